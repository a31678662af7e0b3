/** How long to wait before another try. */

export type Backoff = {
  /** The longest wait after the first failure. */
  readonly minMs: number
  /** The longest wait after any. */
  readonly maxMs: number
  /** The factor by which the longest wait grows with each further failure. Default: 2. */
  readonly factor?: number
  /** Gives a number in [0, 1): half of the wait is drawn by it, so that clients which failed together come back apart. */
  readonly random?: () => number
}

/** @param attempt - Failures in a row, from 1. */
export function backoffMs(attempt: number, { minMs, maxMs, factor = 2, random }: Backoff): number {
  const longestMs = Math.min(maxMs, minMs * factor ** (attempt - 1))
  return random === undefined ? longestMs : longestMs / 2 + (longestMs / 2) * random()
}
