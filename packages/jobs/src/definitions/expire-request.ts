import { expireRequestCommand } from '@quorumscan/ledger'
import type { JobDefinition, OperatorDeps } from '../job.ts'
import { activeContract } from '../reads.ts'
import { submitAsOperator } from '../submit.ts'

/** A request that is never answered may not stay for ever (D-17). */
export const expireRequest: JobDefinition<OperatorDeps> = {
  name: 'expire-request',
  doc: 'Ends a subscription request that nobody paid, with its context; due at its expiresAt.',
  share: 'one',
  async process(request, deps) {
    if ((await activeContract(deps.ledger, request)) === null) return
    await submitAsOperator(deps, { job: this.name, contractId: request }, (by) =>
      expireRequestCommand({ ...by, request }),
    )
  },
}
