/** Instants as µs since the epoch, and their wire form; civil-calendar arithmetic without `Date` (Rule 1). */

/** Microseconds: an instant since 1970-01-01T00:00:00Z, or a duration. A safe integer. */
export type Micros = number

const DAY_MICROS = 86_400_000_000

/** ISO-8601 UTC with `Z` and six fractional digits (D-4). */
export function formatTime(micros: Micros): string {
  const days = Math.floor(micros / DAY_MICROS)
  const rest = micros - days * DAY_MICROS
  const { year, month, day } = civilFromDays(days)
  const seconds = Math.floor(rest / 1_000_000)
  const two = (value: number) => String(value).padStart(2, '0')
  return (
    `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}` +
    `T${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}` +
    `.${String(rest % 1_000_000).padStart(6, '0')}Z`
  )
}

/**
 * Reads an ISO-8601 UTC instant with `Z` and up to nine fractional digits; finer than µs is cut off.
 *
 * @returns undefined for anything else, before 1970 and beyond 2^53 µs (year 2255).
 */
export function parseTime(text: string): Micros | undefined {
  const match =
    /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?Z$/.exec(
      text,
    )
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return undefined
  const days = daysFromCivil(year, month, day)
  const back = civilFromDays(days)
  if (back.day !== day || back.month !== month) return undefined
  const fraction = Number((match[7] ?? '').slice(0, 6).padEnd(6, '0'))
  const micros = days * DAY_MICROS + (hour * 3600 + minute * 60 + second) * 1_000_000 + fraction
  return micros >= 0 && Number.isSafeInteger(micros) ? micros : undefined
}

// Proleptic Gregorian calendar by eras of 400 years (146 097 days), years starting in March.
function civilFromDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  }
}

function daysFromCivil(year: number, month: number, day: number): number {
  const shiftedYear = month <= 2 ? year - 1 : year
  const era = Math.floor(shiftedYear / 400)
  const yearOfEra = shiftedYear - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}
