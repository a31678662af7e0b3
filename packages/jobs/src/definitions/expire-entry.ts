import { expireEntryCommand } from '@quorumscan/ledger'
import type { JobDefinition, OperatorDeps } from '../job.ts'
import { activeContract } from '../reads.ts'
import { submitAsOperator } from '../submit.ts'

/** The name is free from `expiresAt` on anyway (D-9); this removes the contract. */
export const expireEntry: JobDefinition<OperatorDeps> = {
  name: 'expire-entry',
  doc: 'Archives an entry once its time is over; due at expiresAt.',
  share: 'one',
  async process(entry, deps) {
    if ((await activeContract(deps.ledger, entry)) === null) return
    await submitAsOperator(deps, { job: this.name, contractId: entry }, (by) =>
      expireEntryCommand({ ...by, entry }),
    )
  },
}
