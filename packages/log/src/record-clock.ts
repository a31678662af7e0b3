/**
 * Record time: the wall clock, but only while other nodes confirm it or it moves with the monotonic clock, and
 * always above the newest record time. Pure: time and verdict are parameters.
 *
 * After a clock was set, or a machine slept, wall and monotonic time have drifted apart. Every replica would have to
 * wait for entries that were written then. So the clock returns no record time until enough nodes agree with it.
 */

import { MICROS_PER_MS } from '@quorumscan/base'
import type { Micros } from '@quorumscan/model'
import { CLOCK_TOLERANCE_MICROS, type ClockComparison, type Moment } from '@quorumscan/runtime'

/** When enough nodes agreed with the clock last; null: not since the start, or since it was seen to be off. */
export type LastAgreement = Moment | null

/** Why the clock returns no record time. */
export type ClockPause =
  /** Too few nodes have answered since the start. */
  | { readonly kind: 'unconfirmed' }
  /** Enough nodes disagree with the clock, or it drifted from monotonic time. The skew is positive if it is ahead. */
  | { readonly kind: 'off'; readonly skewMicros: number }
  /** The newest record time is ahead of the clock. */
  | { readonly kind: 'log-ahead'; readonly byMicros: number }

export type RecordClockStep =
  | { readonly agreed: LastAgreement; readonly recordTime: Micros; readonly pause: null }
  | { readonly agreed: LastAgreement; readonly recordTime: null; readonly pause: ClockPause }

/** The record time that an entry would get at this moment, or the reason why it gets none. */
export function stepRecordClock(
  before: LastAgreement,
  event: {
    readonly now: Moment
    readonly verdict: ClockComparison
    /** The newest record time. */
    readonly last: Micros
  },
): RecordClockStep {
  const { now, verdict, last } = event
  const paused = (agreed: LastAgreement, pause: ClockPause) => ({ agreed, recordTime: null, pause })
  if (verdict.kind === 'off') return paused(null, { kind: 'off', skewMicros: verdict.skewMicros })
  const agreed = verdict.kind === 'agrees' ? now : before
  if (agreed === null) return paused(null, { kind: 'unconfirmed' })
  const elapsedMicros = (now.monotonicMs - agreed.monotonicMs) * MICROS_PER_MS
  const driftMicros = now.wallMicros - agreed.wallMicros - elapsedMicros
  if (Math.abs(driftMicros) > CLOCK_TOLERANCE_MICROS)
    return paused(null, { kind: 'off', skewMicros: driftMicros })
  const byMicros = last - now.wallMicros
  if (byMicros > CLOCK_TOLERANCE_MICROS) return paused(agreed, { kind: 'log-ahead', byMicros })
  return { agreed, recordTime: Math.max(last + 1, Math.floor(now.wallMicros)), pause: null }
}
