/** How jobs act: one command, as the super-validator's own party or as one that the validator hosts. */
import type { Command, ContractId, PartyId } from '@quorumscan/model'
import type { JobRun, OperatorDeps, WalletDeps } from './job.ts'
import { singleton } from './reads.ts'

/** A submission whose entry is not seen within this is tried again: log and checkpoints take under 1 s. */
const SUBMIT_TIMEOUT_MS = 10_000

/** The rules that each command of a super-validator exercises, and its party. */
export type BySuperValidator = { readonly dsoRules: ContractId; readonly sv: PartyId }

/**
 * Submits what `build` makes of today's DsoRules.
 *
 * The command id is that of job and contract, so a second submission while the first one's outcome is
 * unknown changes nothing: it is refused as a duplicate once the first was accepted.
 */
export async function submitAsOperator(
  deps: OperatorDeps & JobRun,
  work: { readonly job: string; readonly contractId: ContractId },
  build: (by: BySuperValidator) => Command,
): Promise<void> {
  const dsoRules = await singleton(deps.ledger, 'DsoRules')
  await deps.submitter.submit(
    {
      userId: deps.userId,
      actAs: [deps.party],
      commands: [build({ dsoRules: dsoRules.contractId, sv: deps.party })],
      commandId: `${work.job}-${work.contractId}`,
    },
    { signal: deps.signal, timeoutMs: SUBMIT_TIMEOUT_MS },
  )
}

/** Submits as a hosted party; the command id is that of job and contract, as above. */
export async function submitAsParty(
  deps: WalletDeps & JobRun,
  work: {
    readonly job: string
    readonly contractId: ContractId
    readonly party: PartyId
    readonly command: Command
  },
): Promise<void> {
  await deps.submitter.submit(
    {
      userId: deps.userId,
      actAs: [work.party],
      commands: [work.command],
      commandId: `${work.job}-${work.contractId}`,
    },
    { signal: deps.signal, timeoutMs: SUBMIT_TIMEOUT_MS },
  )
}
