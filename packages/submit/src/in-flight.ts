/**
 * Signed entries without an outcome. Each is submitted once its `notBefore` is reached, the same bytes again until the
 * log has it, and watched until the replica has applied it or record time has passed its `notAfter`.
 *
 * Record time advances with entries alone, so in an idle log it stands still for seconds. When the clock of the log must
 * have reached a `notBefore`, a checkpoint is asked for. The entry is submitted when record time has reached it: it
 * is never early, whatever any clock shows.
 */
import {
  backoffMs,
  type Clock,
  held,
  linkedController,
  type Random,
  withTimeout,
} from '@quorumscan/base'
import { isScanError, ScanError } from '@quorumscan/errors'
import type { AppliedEntry, Ordering } from '@quorumscan/ledger'
import type { LogPosition, Micros } from '@quorumscan/model'

/** One attempt: the synchronizer answers within a few fsyncs, or is down. */
const ATTEMPT_MS_MAX = 5000
const PAUSE = { minMs: 50, maxMs: 2000 }
/** Submitted, it asks for a checkpoint. */
const CHECKPOINT = new Uint8Array(0)

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
  /**
   * Whether its user may still act: asked before each attempt until one may have succeeded. If it may not, the entry is
   * not submitted, and `onDenied` is called with the next applied entry. Absent: it may.
   */
  readonly isAllowed?: () => Promise<boolean>
  onDenied?(at: LogPosition): void
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
  type Item = InFlightEntry & {
    readonly attempt: SubmitAttempt
    isStarted: boolean
    isDenied: boolean
  }
  const items = held(
    {
      owner: 'submit',
      name: 'submissions in flight',
      kind: 'work',
      bound: 'the pool of submissions',
    },
    new Map<string, Item>(),
  )
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
  const submitUntilDurable = async (item: Item): Promise<void> => {
    const { attempt, signal } = item
    const bytes = item.bytes()
    for (let attemptCount = 1; ; attemptCount++) {
      let retryAfterMs = 0
      const { isAllowed } = item
      /** Null: it cannot be read. Then nothing is sent, and it is asked again. */
      let mayAct: boolean | null = true
      if (isAllowed !== undefined && !attempt.mayBeInLog)
        mayAct = await isAllowed().catch(() => null)
      if (mayAct === false) {
        item.isDenied = true
        return
      }
      try {
        if (mayAct) {
          await submitOnce(bytes, signal)
          attempt.mayBeInLog = true
          return
        }
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

  /** The newest record time, and when it came: since then the clock of the log has advanced as ours. */
  let newest: { readonly recordTime: Micros; readonly atMs: number } | null = null
  /** The entry for which a checkpoint was asked for last, how often, and when. */
  let asked = { entryHash: '', count: 0, atMs: 0 }
  let waiting = new AbortController()

  /** Asks for a checkpoint when the first entry that waits for its `notBefore` is due. */
  const watchTime = (): void => {
    waiting.abort()
    const held = [...items.values()].filter(
      ({ isStarted, signal }) => !isStarted && !signal.aborted,
    )
    const [first] = held.sort((a, b) => a.notBefore - b.notBefore)
    if (first === undefined) return
    const own = linkedController(first.signal)
    waiting = own
    const nowMs = clock.monotonicMs()
    const { entryHash, notBefore } = first
    const since = newest ?? { recordTime: clock.nowMicros(), atMs: nowMs }
    const dueMs = since.atMs + Math.ceil((notBefore - since.recordTime) / 1000)
    const count = asked.entryHash === entryHash ? asked.count : 0
    const againMs = count === 0 ? 0 : asked.atMs + backoffMs(count, PAUSE)
    clock.delay(Math.max(0, Math.max(dueMs, againMs) - nowMs), own.signal).then(
      () => {
        asked = { entryHash, count: count + 1, atMs: clock.monotonicMs() }
        // Without an answer, the checkpoints of an idle log come all the same.
        submitOnce(CHECKPOINT, first.signal).catch(() => {})
        watchTime()
      },
      // Another watch took its place, or the first entry is given up.
      () => (first.signal.aborted && waiting === own ? watchTime() : undefined),
    )
  }

  return {
    /** @param recordTime - Of the head. @returns The state of the attempts, which changes. */
    add(entry: InFlightEntry, recordTime: Micros): SubmitAttempt {
      const attempt = { mayBeInLog: false, refusal: null }
      const item = { ...entry, attempt, isStarted: false, isDenied: false }
      items.set(entry.entryHash, item)
      begin(item, recordTime)
      if (!item.isStarted) watchTime()
      return attempt
    },
    /** Stops reporting the outcome of the entry. */
    remove: (entryHash: string) => items.delete(entryHash),
    count: () => items.size,
    /** To be called with every applied entry, in order. */
    onApplied(entry: AppliedEntry): void {
      const { recordTime, result } = entry
      newest = { recordTime, atMs: clock.monotonicMs() }
      // A repetition of the same bytes: they took effect before.
      const isRepeated = result.kind === 'ignored' && result.reason === 'seen before'
      if (!isRepeated) items.get(entry.entryHash)?.onApplied(entry)
      for (const item of items.values())
        if (item.isDenied) item.onDenied?.(entry)
        else if (recordTime > item.notAfter) item.onExpired(entry)
        else begin(item, recordTime)
      if ([...items.values()].some(({ isStarted }) => !isStarted)) watchTime()
    },
  }
}
