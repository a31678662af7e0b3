/** Whether a proven answer is recent, and not older than what the reader has seen. */

export type Freshness = {
  readonly nowMicros: number
  readonly maxAgeMs: number
}

/** Whether the record time is older than `maxAge` (D-39). An age that is not a number counts as stale. */
export function isStale(recordTime: number, { nowMicros, maxAgeMs }: Freshness): boolean {
  return !(nowMicros - recordTime <= maxAgeMs * 1000)
}

/** Whether the offset is below the lowest one that the reader accepts. An offset that is no number counts as below. */
export function isBelowOffset(offset: number, offsetMin: number): boolean {
  return !(offset >= offsetMin)
}
