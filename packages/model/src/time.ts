/** Instants and durations in µs, and how they are written (D-4). The calendar is that of `verifier`. */
import { parseInstant } from '@quorumscan/verifier'

/** Microseconds: an instant since 1970-01-01T00:00:00Z, or a duration. A safe integer. */
export type Micros = number

/**
 * Reads an ISO-8601 UTC instant with `Z` and up to nine fractional digits; finer than µs is cut off.
 *
 * @returns undefined for anything else, before 1970 and beyond 2^53 µs (year 2255).
 */
export function parseTime(text: string): Micros | undefined {
  const match = /^([0-9T:-]{19})(?:\.([0-9]{1,9}))?Z$/.exec(text)
  if (match === null) return undefined
  return parseInstant(`${match[1]}.${(match[2] ?? '').slice(0, 6).padEnd(6, '0')}Z`)
}
