/** The page's only door to the time of day and to timers. */

/** ms since the epoch of an ISO 8601 text; NaN of anything else. */
export function msOf(time: string): number {
  return Date.parse(time)
}

export function nowMs(): number {
  return Date.now()
}

const clockFormat = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
})

/** Hours, minutes and seconds where the reader is. */
export function clockTime(time: string): string {
  const ms = msOf(time)
  return Number.isNaN(ms) ? '' : timeOfDay(ms)
}

/** As `clockTime`, of ms since the epoch. */
export function timeOfDay(ms: number): string {
  return clockFormat.format(ms)
}

/** Calls again and again until the returned function is called. */
export function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms)
  return () => clearInterval(timer)
}
