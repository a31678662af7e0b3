/**
 * Signed entries without an outcome. Each is submitted once its `notBefore` is reached, the same bytes again until the
 * log has it, and watched until the replica has applied it or record time has passed its `notAfter`.
 */
import { backoffMs, type Clock, type Random, withTimeout } from '@quorumscan/base'
import { isScanError, ScanError } from '@quorumscan/errors'
import type { AppliedEntry, Ordering } from '@quorumscan/ledger'
import type { LogPosition, Micros } from '@quorumscan/model'

/** One attempt: the synchronizer answers within a few fsyncs, or is down. */
const ATTEMPT_MS_MAX = 5000
const PAUSE = { minMs: 50, maxMs: 2000 }

/** The state of the attempts to submit an entry. */
export type SubmitAttempt = {
  /** An attempt was accepted, or its answer was lost. */
  mayBeInLog: boolean
  /** The last refusal before anything was written. */
  refusal: ScanError | null
}

/** A submitted entry and the callbacks for its outcome. */
type InFlightEntry = {
  readonly entryHash: string
  readonly bytes: () => Uint8Array
  /** Record time that must be reached before it is submitted. It does not depend on clocks. */
  readonly notBefore: Micros
  readonly notAfter: Micros
  onApplied(entry: AppliedEntry): void
  /** The entry has no effect, and never will: every offset up to here was seen, and later ones are too late. */
  onExpired(at: LogPosition): void
  /** The synchronizer has refused the entry permanently. An earlier attempt may have succeeded. */
  onRefused(error: unknown): void
  /** Ends the attempts. */
  readonly signal: AbortSignal
}

export type InFlight = ReturnType<typeof createInFlight>

export function createInFlight(deps: {
  readonly ordering: Pick<Ordering, 'submit'>
  readonly clock: Clock
  readonly random: Random
  /** Whether to wait until an operator frees the disk of the log. Otherwise `LOG_FULL` is a final refusal. */
  readonly waitsForRoom: boolean
}) {
  const { ordering, clock, random } = deps
  type Item = InFlightEntry & { readonly attempt: SubmitAttempt; isStarted: boolean }
  const items = new Map<string, Item>()
  const isPermanent = ({ code, spec }: ScanError) =>
    !spec.retryable || (code === 'LOG_FULL' && !deps.waitsForRoom)

  const submitOnce = (bytes: Uint8Array, signal: AbortSignal): Promise<void> =>
    withTimeout(
      { clock, timeoutMs: ATTEMPT_MS_MAX, signal },
      (either) => ordering.submit(bytes, either),
      () => {
        throw new ScanError('DEPENDENCY_UNAVAILABLE', 'the synchronizer did not answer in time')
      },
    )

  /**
   * Returns when the entry is durable, or the signal aborts. `attempt` collects the results of the attempts.
   *
   * @throws {ScanError} If the synchronizer refused the entry permanently.
   */
  const submitUntilDurable = async ({ attempt, signal, ...entry }: Item): Promise<void> => {
    const bytes = entry.bytes()
    for (let attemptCount = 1; ; attemptCount++) {
      let retryAfterMs = 0
      try {
        await submitOnce(bytes, signal)
        attempt.mayBeInLog = true
        return
      } catch (error) {
        // A clock that is off may be set right, but nothing was written.
        if (isScanError(error) && (error.spec.definite || error.code === 'CLOCK_OFF')) {
          attempt.refusal = error
          if (isPermanent(error) && !attempt.mayBeInLog) throw error
          retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000
        } else attempt.mayBeInLog = true
        if (signal.aborted) return
      }
      // Half fixed, half random, so that participants do not come back in step.
      const halfMs = backoffMs(attemptCount, PAUSE) / 2
      await clock
        .delay(Math.max(retryAfterMs, halfMs) + halfMs * random.fraction(), signal)
        .catch(() => undefined)
      if (signal.aborted) return
    }
  }

  const begin = (item: Item, recordTime: Micros): void => {
    if (item.isStarted || recordTime < item.notBefore) return
    item.isStarted = true
    submitUntilDurable(item).catch((error) => item.onRefused(error))
  }

  return {
    /** @param recordTime - Of the head. @returns The state of the attempts, which changes. */
    add(entry: InFlightEntry, recordTime: Micros): SubmitAttempt {
      const attempt = { mayBeInLog: false, refusal: null }
      const item = { ...entry, attempt, isStarted: false }
      items.set(entry.entryHash, item)
      begin(item, recordTime)
      return attempt
    },
    /** Stops reporting the outcome of the entry. */
    remove: (entryHash: string) => items.delete(entryHash),
    count: () => items.size,
    /** To be called with every applied entry, in order. */
    onApplied(entry: AppliedEntry): void {
      const { recordTime, result } = entry
      // A repetition of the same bytes: they took effect before.
      const isRepeated = result.kind === 'ignored' && result.reason === 'seen before'
      if (!isRepeated) items.get(entry.entryHash)?.onApplied(entry)
      for (const item of items.values())
        if (recordTime > item.notAfter) item.onExpired(entry)
        else begin(item, recordTime)
    },
  }
}
