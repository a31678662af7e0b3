import { collectRenewalCommand } from '@quorumscan/ledger'
import { parseTime } from '@quorumscan/model'
import type { JobDefinition, OperatorDeps } from '../job.ts'
import { activeContract } from '../reads.ts'
import { submitAsOperator } from '../submit.ts'

/** One super-validator suffices: who, how much and until when follow from the ledger (D-23). */
export const collectRenewalPayment: JobDefinition<OperatorDeps> = {
  name: 'collect-renewal-payment',
  doc: 'Collects a renewal payment and extends the entry; due as soon as the payment exists.',
  share: 'one',
  async process(payment, deps) {
    const contract = await activeContract(deps.ledger, payment)
    if (contract === null) return
    const dueAt = parseTime(String(contract.payload['thisPaymentDueAt']))
    // Paid too late: the entry has expired, expire-payment refunds it when the lock ends.
    if (dueAt === undefined || dueAt <= deps.ledger.head().recordTime) return
    await submitAsOperator(deps, { job: this.name, contractId: payment }, (by) =>
      collectRenewalCommand({ ...by, payment }),
    )
  },
}
