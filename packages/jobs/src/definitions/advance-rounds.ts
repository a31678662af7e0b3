import { advanceRoundsCommand } from '@quorumscan/ledger'
import type { Contract } from '@quorumscan/model'
import type { JobDefinition, OperatorDeps } from '../job.ts'
import { submitAsOperator } from '../submit.ts'

/** Closes the oldest open round, pays its reward and opens the next one (D-18, D-22). */
export const advanceRounds: JobDefinition<OperatorDeps> = {
  name: 'advance-rounds',
  doc: 'Closes an open mining round and opens the next one; due when its time to close has come.',
  share: 'one',
  async process(round, deps) {
    const open = await deps.ledger.contractsByKey('rounds')
    const [oldest] = open.toSorted((a, b) => numberOf(a) - numberOf(b))
    // The command closes the oldest round whichever is meant: after a standstill, when several are due,
    // each must wait for its own turn, or its command id would be used up for another one.
    if (oldest?.contractId !== round) return
    await submitAsOperator(deps, { job: this.name, contractId: round }, (by) =>
      advanceRoundsCommand(by),
    )
  },
}

function numberOf(round: Contract): number {
  return Number((round.payload['round'] as { number: string }).number)
}
