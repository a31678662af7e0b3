/** Times of the ledger as texts. */
import { parseInstant } from '@quorumscan/verifier'
import { invalidArgument } from '../errors.ts'
import type { Clock } from './clock.ts'
import { shownValue } from './shown-value.ts'

/** An instant of the ledger, such as `2026-11-21T10:00:00.000000Z`, in ms by the wall clock. */
export function instantMs(instant: string): number {
  // Platforms parse six digits differently.
  return Date.parse(`${instant.slice(0, 23)}Z`)
}

/** The µs since 1970 of a time of the SDK, or of `Date.toISOString`. */
export function microsOf(time: string): number {
  const micros = parseInstant(String(time)) ?? Date.parse(time) * 1000
  if (Number.isSafeInteger(micros) && micros >= 0) return micros
  throw invalidArgument(
    `A time must be ISO-8601 UTC, such as 2026-11-22T10:00:00.000000Z, not ${shownValue(time)}.`,
  )
}

/** An RFC 3339 date-time of another service, with any offset, in UTC; undefined: it is not one. */
export function utcOf(text: string): string | undefined {
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/**
 * Whether an entry has expired by the caller's clock, also if it was live at the offset that was read. The name may have
 * another owner by now.
 *
 * @param clockSkewMs - How far the clock is proven to be behind, unless it is corrected already.
 */
export function hasEnded(
  expiresAt: string | null,
  clock: Pick<Clock, 'nowMicros'>,
  clockSkewMs: number | null = null,
): boolean {
  const nowMs = clock.nowMicros() / 1000 + (clockSkewMs ?? 0)
  return expiresAt !== null && instantMs(expiresAt) <= nowMs
}
