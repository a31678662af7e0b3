/**
 * Submits commands and waits for the outcome in this process: signs them once, submits the same bytes to the log
 * until they are durable, and waits until the local replica has applied them.
 */

import {
  type Clock,
  createShares,
  linkedController,
  type Random,
  randomHex,
  unreachable,
} from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { type AppliedEntry, errorCodeOf, type Ledger, type Ordering } from '@quorumscan/ledger'
import type { Deduplication, LogPosition, Micros, Update } from '@quorumscan/model'
import { NOT_AFTER_MICROS_MAX } from '@quorumscan/verifier'
import type { GrowthShares } from './growth-shares.ts'
import { createInFlight, type SubmitAttempt } from './in-flight.ts'
import {
  dryRun,
  type OwnDryRun,
  type Participant,
  type PreparedSubmission,
  prepareSubmission,
  type SignedSubmission,
  type SubmitInput,
  submissionBody,
} from './submission.ts'

/** Whether the user may still act as the parties of its submission. */
type IsAllowed = () => Promise<boolean>

type SubmitOptions = {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Asked before each attempt, until one may have succeeded. Default: it may. */
  readonly isAllowed?: IsAllowed | undefined
}

export type SubmitResult = LogPosition & { readonly update: Update }

export type Submitter = ReturnType<typeof createSubmitter>

/** Users share both. */
const WAITING_MAX = 1000
/** Of signed entries, each of up to 256 KiB. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024
/** Clocks of other processes may lag: `notAfter` stays this far below the bound of Rule 4. */
const CLOCK_SLACK_MICROS = 60_000_000

export function createSubmitter(
  deps: Participant & {
    readonly ordering: Pick<Ordering, 'submit'>
    readonly ledger: Pick<Ledger, 'head' | 'onApplied'>
    readonly clock: Clock
  },
) {
  const { ledger, clock, random } = deps
  const inFlight = createInFlight({ ...deps, waitsForRoom: false })
  const shares = createShares('submissions that wait for their outcome', {
    entries: WAITING_MAX,
    bytes: WAITING_BYTES_MAX,
  })
  let stopListening: (() => void) | null = null

  const prepare = (input: SubmitInput, notAfter: Micros): PreparedSubmission => {
    try {
      return prepareSubmission(deps, submissionBody(input, random), notAfter)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw new ScanError('INVALID_ARGUMENT', error.message, { cause: error })
    }
  }

  return {
    /**
     * Resolves when the local replica has applied the submission.
     *
     * @throws {ScanError} Definite: the ledger's rejection with its code; SUBMISSION_EXPIRED; OVERLOADED;
     *   PERMISSION_DENIED; or what `Ordering.submit` refused with. SUBMISSION_UNKNOWN (indefinite): neither was seen within
     *   `timeoutMs`, or the signal aborted. After an indefinite end repeat with the same command id only.
     */
    async submit(input: SubmitInput, options: SubmitOptions): Promise<SubmitResult> {
      const { signal, timeoutMs } = options
      signal.throwIfAborted()
      const lifeMicros = Math.min(timeoutMs * 1000, NOT_AFTER_MICROS_MAX - CLOCK_SLACK_MICROS)
      const { recordTime } = ledger.head()
      const notAfter = Math.max(recordTime, Math.floor(clock.nowMicros())) + Math.ceil(lifeMicros)
      const prepared = prepare(input, notAfter)
      // A user without room costs no signature.
      const size = { entries: 1, bytes: prepared.byteLength }
      const release = shares.take(input.userId, size)
      if (release === null)
        throw new ScanError('OVERLOADED', `too many ${shares.pool} for this user to add one`)
      try {
        return resultOf(await untilKnown(prepared.sign(), { ...options, notAfter }), notAfter)
      } finally {
        release()
      }
    },
  }

  async function untilKnown(
    { bytes, entryHash }: SignedSubmission,
    options: SubmitOptions & { readonly notAfter: Micros },
  ): Promise<AppliedEntry> {
    const { notAfter, signal, timeoutMs, isAllowed } = options
    const ended = linkedController(signal)
    try {
      return await new Promise<AppliedEntry>((resolve, reject) => {
        stopListening ??= ledger.onApplied(inFlight.onApplied)
        const attempt = inFlight.add(
          {
            entryHash,
            bytes: () => bytes,
            notBefore: 0,
            notAfter,
            signal: ended.signal,
            onApplied: resolve,
            onExpired: () => reject(expired()),
            onRefused: reject,
            ...(isAllowed !== undefined && {
              async isAllowed() {
                const may = await isAllowed()
                if (!may) reject(denied())
                return may
              },
            }),
          },
          ledger.head().recordTime,
        )
        clock.delay(timeoutMs, ended.signal).then(
          () => reject(unseen(attempt, undefined)),
          () => reject(unseen(attempt, signal.reason)),
        )
      })
    } finally {
      ended.abort()
      inFlight.remove(entryHash)
      if (inFlight.count() === 0) {
        stopListening?.()
        stopListening = null
      }
    }
  }
}

function resultOf(entry: AppliedEntry, notAfter: Micros): SubmitResult {
  const { offset, recordTime, result } = entry
  switch (result.kind) {
    case 'accepted':
      return { offset, recordTime, update: result.update }
    case 'rejected':
      throw new ScanError(errorCodeOf(result.code), result.message)
    case 'ignored':
      if (recordTime > notAfter) throw expired()
      if (result.reason === 'not bound')
        throw new ScanError('PERMISSION_DENIED', 'a party is not hosted by this participant')
      // `notAfter` too far ahead: a process that has the bytes can submit them once record time is near.
      throw unknown(`the replica ignored the submission: ${result.reason}`, undefined)
    case 'checkpoint':
      throw unknown('the entry with its hash is a checkpoint: a defect', undefined)
    default:
      return unreachable(result)
  }
}

function unseen(attempt: SubmitAttempt, cause: unknown): ScanError {
  if (!attempt.mayBeInLog && attempt.refusal !== null) return attempt.refusal
  return unknown('the outcome of the submission was not seen in time', cause)
}

function unknown(message: string, cause: unknown): ScanError {
  return new ScanError('SUBMISSION_UNKNOWN', message, { cause })
}

function denied(): ScanError {
  return new ScanError('PERMISSION_DENIED', 'The user may no longer act as its party.')
}

function expired(): ScanError {
  return new ScanError(
    'SUBMISSION_EXPIRED',
    'the submission did not get into the log in time; it has no effect',
  )
}

/** Log, checkpoints and apply take well under a second; more means that something is down. */
const SUBMIT_TIMEOUT_MS = 15_000

export type CommandInput = Omit<SubmitInput, 'deduplication'>

/** The error with which the ledger would refuse a submission as the next entry; null: it would accept it. */
export async function refusalOf(
  deps: Parameters<typeof dryRun>[0],
  body: Parameters<typeof dryRun>[1],
  now: Micros,
): Promise<ScanError | null> {
  return refusalIn(await dryRun(deps, body, { now, notBefore: 0 }))
}

function refusalIn({ result }: OwnDryRun): ScanError | null {
  return result.kind === 'accepted' ? null : new ScanError(errorCodeOf(result.code), result.message)
}

/** Dry-runs each command first, so that a refusal comes at once and nothing gets into the log. */
export type CheckedSubmitter = ReturnType<typeof createCheckedSubmitter>

export function createCheckedSubmitter(deps: {
  readonly ledger: Pick<Ledger, 'dryRun' | 'head'>
  readonly submitter: Pick<Submitter, 'submit'>
  readonly genesisHash: string
  /** Public key of the participant, hex. */
  readonly participant: string
  /** How far back a command id counts, as long as the ledger allows (D-29). */
  readonly deduplicationMicros: Micros
  readonly clock: Clock
  readonly random: Random
  /** What users add to the state. */
  readonly growth: GrowthShares
  /** @throws {ScanError} NOT_READY while the replica lags. */
  readonly assertLive: () => void
}) {
  const deduplication: Deduplication = { kind: 'duration', micros: deps.deduplicationMicros }
  const withId = (input: CommandInput) => ({
    ...input,
    commandId: input.commandId ?? randomHex(deps.random, 16),
  })

  const tryNow = async (command: ReturnType<typeof withId>): Promise<OwnDryRun> => {
    deps.assertLive()
    const body = submissionBody({ ...command, deduplication }, deps.random)
    return await dryRun(deps, body, { now: deps.clock.nowMicros(), notBefore: 0 })
  }

  return {
    /**
     * The error with which the ledger would refuse the commands if they were the next entry; null for none. The commands
     * do not get into the log.
     *
     * @throws {ScanError} NOT_READY while the replica catches up.
     */
    dryRun: async (input: CommandInput) => refusalIn(await tryNow(withId(input))),
    /**
     * The update that the commands made, once the validator's replica has applied them.
     *
     * @param isAllowed - As of `createSubmitter`.
     * @throws {ScanError} NOT_READY while the replica catches up; the code of the refusal; PERMISSION_DENIED;
     *   LIMIT_EXCEEDED (`createGrowthShares`); SUBMISSION_UNKNOWN if the outcome was not seen in time.
     */
    async submit(input: CommandInput, signal: AbortSignal, isAllowed?: IsAllowed): Promise<Update> {
      const command = withId(input)
      const tried = await tryNow(command)
      const refusal = refusalIn(tried)
      if (refusal !== null) throw refusal
      const giveBack = deps.growth.take(input.userId, tried.countedGrowth)
      try {
        const { update } = await deps.submitter.submit(
          { ...command, deduplication },
          { signal, timeoutMs: SUBMIT_TIMEOUT_MS, isAllowed },
        )
        return update
      } catch (error) {
        if (error instanceof ScanError && error.spec.definite) giveBack()
        throw error
      }
    },
  }
}
