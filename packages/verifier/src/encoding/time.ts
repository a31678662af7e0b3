/**
 * Instants on the wire (D-4). `Date` serves as a calendar only: what its parser, which differs between
 * platforms, makes of a text counts if it is written back as the same text.
 */

/**
 * Reads `2026-11-21T10:00:00.000000Z`, exactly so.
 *
 * @returns µs since the epoch; undefined for anything else, before 1970 and beyond 2^53.
 */
export function parseInstant(text: string): number | undefined {
  const micros = Date.parse(`${text.slice(0, 23)}Z`) * 1000 + Number(text.slice(23, 26))
  return micros >= 0 && Number.isSafeInteger(micros) && format(micros) === text ? micros : undefined
}

// Many consecutive answers have the same record time.
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
  const millis = new Date(Math.floor(micros / 1000)).toISOString().slice(0, -1)
  return `${millis}${String(micros % 1000).padStart(3, '0')}Z`
}
