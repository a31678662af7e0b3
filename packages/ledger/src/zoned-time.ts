/** Instants as clients write them: RFC 3339 §5.6, without the leap second and with at most nine fractional digits. */
import { type Micros, parseTime } from '@quorumscan/model'

const ZONED =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$/
const MINUTE_MICROS = 60_000_000
/** As `java.time.ZoneOffset`. */
const OFFSET_HOURS_MAX = 18
/** The local date may be before 1970 though the instant is not. Such a text is parsed as one day later. */
const EPOCH_EVE = /^1969-12-31$/

/** @returns undefined for anything else, before 1970 and beyond 2^53 µs; finer than µs is cut off. */
export function parseZonedTime(text: string): Micros | undefined {
  const match = ZONED.exec(text)
  if (match === null) return undefined
  const [, date = '', time = '', fraction = '0', sign, hours, rest] = match
  const isEve = EPOCH_EVE.test(date)
  const micros = fraction.slice(0, 6)
  const local = parseTime(`${isEve ? '1970-01-01' : date}T${time}.${micros}Z`)
  if (local === undefined) return undefined
  const offsetMinutes = sign === undefined ? 0 : Number(hours) * 60 + Number(rest)
  if (offsetMinutes > OFFSET_HOURS_MAX * 60 || Number(rest ?? 0) > 59) return undefined
  const offset = (sign === '-' ? -1 : 1) * offsetMinutes * MINUTE_MICROS
  const instant = local - offset - (isEve ? 1440 * MINUTE_MICROS : 0)
  return instant >= 0 && Number.isSafeInteger(instant) ? instant : undefined
}

/** Whether the text is an instant, perhaps of a year that the ledger cannot hold. */
export function isZonedTime(text: string): boolean {
  return parseZonedTime(text.replace(/^[0-9]{4}/, '2000')) !== undefined
}
