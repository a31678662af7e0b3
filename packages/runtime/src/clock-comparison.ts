/** Compares the wall clock of this process with those of peers. Pure. */
import { MICROS_PER_MS } from '@quorumscan/base'

/**
 * One answer of a peer: its wall clock, relative to this process's monotonic clock, so that it stays valid when this
 * process's wall clock is set.
 */
export type ClockReading = {
  readonly peer: string
  /** The peer's wall clock, µs since the epoch. */
  readonly wallMicros: number
  /** What this process's monotonic clock showed at that time. */
  readonly atMs: number
  /** The newest offset that it has applied; null if it reports none. */
  readonly head: number | null
}

/** Both own clocks at one time. */
export type Moment = { readonly wallMicros: number; readonly monotonicMs: number }

/** `skewMicros`: by how much this process's clock is ahead; below zero, behind. */
export type ClockComparison =
  | { readonly kind: 'agrees' | 'off'; readonly skewMicros: number }
  /** Too few have answered recently. */
  | { readonly kind: 'unknown' }

/** Far above the skew of a machine with any time service, far below the 10 s at which replicas wait. */
export const CLOCK_TOLERANCE_MICROS = 2_000_000
/** Six usual rounds: an older reading is not evidence, as the peer may be down. */
const READING_MS_MAX = 30_000

/** By how much this process's clock is ahead of the one that was read. */
export function skewOf(reading: ClockReading, now: Moment): number {
  const peerNow = reading.wallMicros + (now.monotonicMs - reading.atMs) * MICROS_PER_MS
  return now.wallMicros - peerNow
}

/** The readings that are recent enough to count. */
export function freshReadings(readings: readonly ClockReading[], now: Moment) {
  return readings.filter(({ atMs }) => now.monotonicMs - atMs <= READING_MS_MAX)
}

/**
 * Whether `needed` peers agree with this process's clock, or as many disagree. Of f+1 peers one is honest: f liars can
 * neither confirm a wrong clock nor reject a right one that f+1 others confirm.
 */
export function compareClock(options: {
  readonly readings: readonly ClockReading[]
  readonly now: Moment
  readonly needed: number
}): ClockComparison {
  const skews = freshReadings(options.readings, options.now)
    .map((reading) => skewOf(reading, options.now))
    .sort((a, b) => a - b)
  const close = skews.filter((skew) => Math.abs(skew) <= CLOCK_TOLERANCE_MICROS)
  if (close.length >= options.needed) return { kind: 'agrees', skewMicros: middleOf(close) }
  const far = skews.filter((skew) => Math.abs(skew) > CLOCK_TOLERANCE_MICROS)
  if (far.length >= options.needed) return { kind: 'off', skewMicros: middleOf(far) }
  return { kind: 'unknown' }
}

/** Such as `600 s behind the log`. */
export function describeClockSkew(skewMicros: number, whose: string): string {
  const seconds = Math.round(Math.abs(skewMicros) / (MICROS_PER_MS * 1000))
  return `${seconds} s ${skewMicros < 0 ? 'behind' : 'ahead of'} ${whose}`
}

function middleOf(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
