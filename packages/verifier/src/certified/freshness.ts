/** Whether a true answer is one of now, and not of before what the reader has seen. */

export type Freshness = {
  readonly nowMicros: number
  readonly maxAgeMs: number
}

/** Whether the record time read at is too long ago (D-39); also where the age is no number. */
export function isStale(recordTime: number, { nowMicros, maxAgeMs }: Freshness): boolean {
  return !(nowMicros - recordTime <= maxAgeMs * 1000)
}

/** Whether the offset lies before the lowest that the reader takes; also where that is no number. */
export function isBehind(offset: number, offsetMin: number): boolean {
  return !(offset >= offsetMin)
}
