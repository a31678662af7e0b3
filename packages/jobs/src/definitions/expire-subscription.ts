import { expireSubscriptionCommand } from '@quorumscan/ledger'
import type { JobDefinition, OperatorDeps } from '../job.ts'
import { activeContract } from '../reads.ts'
import { submitAsOperator } from '../submit.ts'

/** Nobody renewed in time. */
export const expireSubscription: JobDefinition<OperatorDeps> = {
  name: 'expire-subscription',
  doc: 'Ends a subscription whose payment is overdue, with its context; due just after nextPaymentDueAt.',
  share: 'one',
  async process(idle, deps) {
    if ((await activeContract(deps.ledger, idle)) === null) return
    await submitAsOperator(deps, { job: this.name, contractId: idle }, (by) =>
      expireSubscriptionCommand({ ...by, idle }),
    )
  },
}
