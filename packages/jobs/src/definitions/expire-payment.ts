import { expirePaymentCommand } from '@quorumscan/ledger'
import type { JobDefinition, OperatorDeps } from '../job.ts'
import { activeContract } from '../reads.ts'
import { submitAsOperator } from '../submit.ts'

/** The coin goes back to its owner, also when too few super-validators were there to confirm (D-23). */
export const expirePayment: JobDefinition<OperatorDeps> = {
  name: 'expire-payment',
  doc: 'Refunds a payment, initial or renewal, that was not collected; due when its lock ends.',
  share: 'one',
  async process(payment, deps) {
    if ((await activeContract(deps.ledger, payment)) === null) return
    await submitAsOperator(deps, { job: this.name, contractId: payment }, (by) =>
      expirePaymentCommand({ ...by, payment }),
    )
  },
}
