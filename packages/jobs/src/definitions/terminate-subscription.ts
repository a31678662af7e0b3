import { terminateSubscriptionCommand } from '@quorumscan/ledger'
import type { JobDefinition, OperatorDeps } from '../job.ts'
import { activeContract } from '../reads.ts'
import { submitAsOperator } from '../submit.ts'

/** The context goes with the marker of the end, so that a user has room for new requests. */
export const terminateSubscription: JobDefinition<OperatorDeps> = {
  name: 'terminate-subscription',
  doc: 'Removes what an ended subscription left behind; due as soon as it ended.',
  share: 'one',
  async process(terminated, deps) {
    if ((await activeContract(deps.ledger, terminated)) === null) return
    await submitAsOperator(deps, { job: this.name, contractId: terminated }, (by) =>
      terminateSubscriptionCommand({ ...by, terminated }),
    )
  },
}
