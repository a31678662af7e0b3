/** Times: everywhere texts of one form, ISO-8601 UTC with six fractional digits, which sort as they follow. */
import { formatInstant, parseInstant } from '@quorumscan/verifier'
import { invalidArgument } from '../errors.ts'

/** A time of the SDK as a `Date`, which counts milliseconds. @throws {QuorumscanError} INVALID_ARGUMENT if it is none. */
export function toDate(time: string): Date {
  return new Date(Math.floor(microsOf(time) / 1000))
}

/** A `Date` as the SDK writes times. @throws {QuorumscanError} INVALID_ARGUMENT if it is none, or before 1970. */
export function fromDate(date: Date): string {
  const ms = Number(date)
  if (!(ms >= 0 && Number.isSafeInteger(ms * 1000))) throw invalidArgument('The date is none.')
  return formatInstant(ms * 1000)
}

/** Of a time in this form, or as `Date.toISOString` writes it, the µs since 1970. */
export function microsOf(time: string): number {
  const micros = parseInstant(String(time)) ?? Date.parse(time) * 1000
  if (Number.isSafeInteger(micros) && micros >= 0) return micros
  throw invalidArgument('A time is ISO-8601 UTC, such as 2026-11-22T10:00:00.000000Z.')
}
