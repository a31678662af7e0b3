/** Offering the same bytes to the log until they are durable, or it is known that they never will be. */
import { backoffMs, type Clock, type Random, within } from '@quorumscan/base'
import { isScanError, ScanError } from '@quorumscan/errors'
import type { Ordering } from '@quorumscan/ledger'

/** What is known of an entry that is being offered. */
export type OfferAttempt = {
  /** An offer was accepted, or its answer was lost. */
  mayBeInLog: boolean
  /** The last one by which nothing was written. */
  refusal: ScanError | null
}

/** One offer: the synchronizer answers within a few fsyncs, or it is gone. */
const OFFER_MS_MAX = 5000
const PAUSE = { minMs: 50, maxMs: 2000 }

/**
 * Returns when the entry is durable, or the signal aborts. `attempt` collects what is known.
 *
 * @throws {ScanError} If the synchronizer refused for good.
 */
type Offer = (attempt: OfferAttempt, bytes: Uint8Array, signal: AbortSignal) => Promise<void>

export function createOffer(deps: {
  readonly ordering: Pick<Ordering, 'submit'>
  readonly clock: Clock
  readonly random: Random
  /** Whether to wait for room on the log's disk, which takes an operator; else that is a refusal for good. */
  readonly waitsForRoom: boolean
}): Offer {
  const { ordering, clock, random } = deps
  const isForGood = ({ code, spec }: ScanError) =>
    !spec.retryable || (code === 'LOG_FULL' && !deps.waitsForRoom)

  const offerOnce = (bytes: Uint8Array, signal: AbortSignal): Promise<void> =>
    within(
      { clock, timeoutMs: OFFER_MS_MAX, signal },
      (either) => ordering.submit(bytes, either),
      () => {
        throw new ScanError('DEPENDENCY_UNAVAILABLE', 'the synchronizer did not answer in time')
      },
    )

  return async (attempt, bytes, signal) => {
    for (let attemptCount = 1; ; attemptCount++) {
      let retryAfterMs = 0
      try {
        await offerOnce(bytes, signal)
        attempt.mayBeInLog = true
        return
      } catch (error) {
        // Of a clock that is off nobody says that it is so for good, but nothing was written.
        if (isScanError(error) && (error.spec.definite || error.code === 'CLOCK_OFF')) {
          attempt.refusal = error
          if (isForGood(error) && !attempt.mayBeInLog) throw error
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
}
