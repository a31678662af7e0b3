/** The only module of the page that reads the time of day or sets timers. */

/** ms since the epoch of an ISO 8601 text; NaN for any other text. */
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

/** Local hours, minutes and seconds of an ISO 8601 text or of ms since the epoch; empty if it is neither. */
export function clockTime(time: string | number): string {
  const ms = new Date(time).getTime()
  return Number.isNaN(ms) ? '' : clockFormat.format(ms)
}

/** Calls `work` each `ms` until the returned function is called. */
export function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms)
  return () => clearInterval(timer)
}
