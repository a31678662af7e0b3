/** How jobs act: one command, as the super-validator's own party or as one that the validator hosts. */
import type { Command, ContractId, PartyId } from '@quorumscan/model'
import type { JobRun, OperatorDeps } from './job.ts'

/** A submission whose entry is not seen within this is tried again: log and checkpoints take under 1 s. */
const SUBMIT_TIMEOUT_MS = 10_000

/**
 * The command id is that of job and contract, so a second submission while the first one's outcome is
 * unknown changes nothing: it is refused as a duplicate once the first was accepted.
 */
export async function submitFor(
  deps: Pick<OperatorDeps, 'submit' | 'userId'> & JobRun,
  work: {
    readonly job: string
    readonly contractId: ContractId
    readonly party: PartyId
    readonly command: Command
  },
): Promise<void> {
  await deps.submit(
    {
      userId: deps.userId,
      actAs: [work.party],
      commands: [work.command],
      commandId: `${work.job}-${work.contractId}`,
    },
    { signal: deps.signal, timeoutMs: SUBMIT_TIMEOUT_MS },
  )
}
