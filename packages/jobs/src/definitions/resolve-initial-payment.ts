import { confirmResolveCommand } from '@quorumscan/ledger'
import type { JobDefinition, OperatorDeps } from '../job.ts'
import { activeContract } from '../reads.ts'
import { submitAsOperator } from '../submit.ts'

/**
 * Confirms "resolve payment P" once per super-validator and payment (D-23). Whether that means collect or
 * refund is decided by interpretation when the q-th confirmation arrives.
 */
export const resolveInitialPayment: JobDefinition<OperatorDeps> = {
  name: 'resolve-initial-payment',
  doc: "Submits this super-validator's confirmation of an initial payment; due as soon as one exists.",
  share: 'every',
  async process(payment, deps) {
    if ((await activeContract(deps.ledger, payment)) === null) return
    const confirmations = await deps.ledger.contractsByKey(`confirmations:${payment}`)
    const isConfirmed = confirmations.some(
      (confirmation) => confirmation.payload['confirmer'] === deps.party,
    )
    if (isConfirmed) return
    await submitAsOperator(deps, { job: this.name, contractId: payment }, ({ dsoRules, sv }) =>
      confirmResolveCommand({ dsoRules, confirmer: sv, payment }),
    )
  },
}
