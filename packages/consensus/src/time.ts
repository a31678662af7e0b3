/** Instants on the wire (D-4) without `Date`, whose parsers differ between platforms. */

const DAY_SECONDS = 86_400
const INSTANT = /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{6})Z$/

/**
 * Reads `2026-11-21T10:00:00.000000Z`, exactly so.
 *
 * @returns µs since the epoch; undefined for anything else, before 1970 and beyond 2^53.
 */
export function parseInstant(text: string): number | undefined {
  const match = INSTANT.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second, micros] = match.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  // Of 30 or 31 days by turns, beginning anew with August.
  const dayMax = month === 2 ? 28 + Number(isLeap) : 30 + ((month + Number(month > 7)) % 2)
  if (month < 1 || month > 12 || day < 1 || day > dayMax) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const seconds = daysFromCivil(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second
  const instant = seconds * 1_000_000 + micros
  return instant >= 0 && Number.isSafeInteger(instant) ? instant : undefined
}

// Of many answers in a row the record time is the same.
let lastMicros = -1
let lastText = ''

/** ISO-8601 UTC with `Z` and six fractional digits. */
export function formatInstant(micros: number): string {
  if (micros !== lastMicros) {
    lastText = format(micros)
    lastMicros = micros
  }
  return lastText
}

function format(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000)
  const days = Math.floor(seconds / DAY_SECONDS)
  const rest = seconds - days * DAY_SECONDS
  const { year, month, day } = civilFromDays(days)
  const date = `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`
  const time = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60]
  return `${date}T${time.map((part) => digits(part, 2)).join(':')}.${digits(micros % 1_000_000, 6)}Z`
}

const digits = (value: number, count: number): string => String(value).padStart(count, '0')

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
  const years = month > 2 ? year : year - 1
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  return years * 365 + leapDays + dayOfYear - 719_468
}
