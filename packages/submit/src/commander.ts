/**
 * Rehearses commands before it submits them, so that a refusal is certain and leaves no trace in the log, and waits
 * for the outcome.
 */
import { type Clock, type Random, randomHex } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { errorCodeOf, type Ledger } from '@quorumscan/ledger'
import type { Deduplication, Micros, Update } from '@quorumscan/model'
import { rehearse, type SubmitInput, submissionBody } from './submission.ts'
import type { Submitter } from './submitter.ts'

/** Log, checkpoints and apply take well under a second; more means that something is down. */
const SUBMIT_TIMEOUT_MS = 15_000

export type CommandInput = Omit<SubmitInput, 'deduplication'>

export type Commander = ReturnType<typeof createCommander>

export function createCommander(deps: {
  readonly ledger: Ledger
  readonly submitter: Submitter
  readonly genesisHash: string
  /** Public key of the participant, hex. */
  readonly participant: string
  /** How far back a command id counts, as long as the ledger allows (D-29). */
  readonly deduplicationMicros: Micros
  readonly clock: Clock
  readonly random: Random
  /** @throws {ScanError} NOT_READY while the replica lags. */
  readonly assertLive: () => void
}) {
  const deduplication: Deduplication = { kind: 'duration', micros: deps.deduplicationMicros }
  const withId = (input: CommandInput) => ({
    ...input,
    commandId: input.commandId ?? randomHex(deps.random, 16),
  })

  const refusalOf = async (command: ReturnType<typeof withId>): Promise<ScanError | null> => {
    deps.assertLive()
    const body = submissionBody({ ...command, deduplication }, deps.random)
    const rehearsed = await rehearse(deps, body, { now: deps.clock.nowMicros(), notBefore: 0 })
    return rehearsed.kind === 'accepted'
      ? null
      : new ScanError(errorCodeOf(rehearsed.code), rehearsed.message)
  }

  return {
    /**
     * The error with which the ledger would refuse the commands if they were the next entry; null for none. The commands
     * do not get into the log.
     *
     * @throws {ScanError} NOT_READY while the replica catches up.
     */
    rehearse: (input: CommandInput) => refusalOf(withId(input)),
    /**
     * The update that the commands made, once the validator's own replica has applied them.
     *
     * @throws {ScanError} NOT_READY while the replica catches up; the code of the refusal; SUBMISSION_UNKNOWN
     *   if the outcome was not seen in time.
     */
    async submit(input: CommandInput, signal: AbortSignal): Promise<Update> {
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
