/**
 * Submitting what is rehearsed first, so that a refusal is certain and leaves no trace in the log, and waiting
 * for the outcome.
 */
import { type Clock, type Random, randomHex } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { errorCodeOf, type Ledger } from '@quorumscan/ledger'
import type {
  Command,
  Deduplication,
  DisclosedContract,
  Micros,
  PartyId,
  Update,
  UserId,
} from '@quorumscan/model'
import { rehearse } from './rehearse.ts'
import type { Submitter } from './submitter.ts'

/** Log, checkpoints and apply take well under a second; more means that something is down. */
const SUBMIT_TIMEOUT_MS = 15_000

export type CommandInput = {
  readonly userId: UserId
  readonly actAs: readonly PartyId[]
  readonly commands: readonly Command[]
  /** What the commands use and the submitters do not see. */
  readonly disclosed?: readonly DisclosedContract[]
  /** Two submissions with one command id, user and actAs take effect once (D-29). Default: a random one. */
  readonly commandId?: string
}

export interface Commander {
  /**
   * What the ledger would refuse the commands with if they were the next entry; null if nothing. The log
   * never hears of it.
   *
   * @throws {ScanError} NOT_READY while the replica catches up.
   */
  rehearse(input: CommandInput): Promise<ScanError | null>
  /**
   * What the commands did, once the validator's own replica has applied them.
   *
   * @throws {ScanError} NOT_READY while the replica catches up; the code of the refusal; SUBMISSION_UNKNOWN
   *   if the outcome was not seen in time.
   */
  submit(input: CommandInput, signal: AbortSignal): Promise<Update>
}

export type CommanderDeps = {
  readonly ledger: Ledger
  readonly submitter: Pick<Submitter, 'submit'>
  readonly genesisHash: string
  /** Public key of the participant, hex. */
  readonly participant: string
  /** How far back a command id counts, as long as the ledger allows (D-29). */
  readonly deduplicationMicros: Micros
  readonly clock: Clock
  readonly random: Random
  /** @throws {ScanError} NOT_READY while the replica is behind. */
  readonly assertLive: () => void
}

export function createCommander(deps: CommanderDeps): Commander {
  const deduplication: Deduplication = { kind: 'duration', micros: deps.deduplicationMicros }

  const refusalOf = async (
    input: CommandInput & { readonly commandId: string },
  ): Promise<ScanError | null> => {
    deps.assertLive()
    const { userId, actAs, commandId, commands, disclosed = [] } = input
    const base = { userId, actAs, readAs: [], commandId, submissionId: '', workflowId: '' }
    const rehearsed = await rehearse(
      deps,
      { ...base, deduplication, commands, disclosed },
      { now: deps.clock.nowMicros(), notBefore: 0 },
    )
    return rehearsed.kind === 'accepted'
      ? null
      : new ScanError(errorCodeOf(rehearsed.code), rehearsed.message)
  }
  const withId = (input: CommandInput) => ({
    ...input,
    commandId: input.commandId ?? randomHex(deps.random, 16),
  })

  return {
    rehearse: (input) => refusalOf(withId(input)),
    async submit(input, signal) {
      const command = withId(input)
      const refusal = await refusalOf(command)
      if (refusal !== null) throw refusal
      const { update } = await deps.submitter.submit(
        { ...command, deduplication },
        { signal, timeoutMs: SUBMIT_TIMEOUT_MS },
      )
      return update
    },
  }
}
