/** Waits for conditions, with a fixed deadline (time-limits.ts). A test never sleeps for a fixed time instead. */
import { createSystemClock, waitFor } from '@quorumscan/base'
import { slowness, waitLimitMs } from './time-limits.ts'

export type UntilOptions = {
  /**
   * Extends the deadline of every wait, which is 45 s, or 120 s with a cluster. `TEST_SLOWNESS` multiplies both. A
   * shorter deadline is refused, because it would test the speed of the machine; `test/bench` measures speed.
   */
  readonly timeoutMs?: number
  /** The first pause between two polls. Default 20 ms. */
  readonly intervalMs?: number
}

const INTERVAL_MS = 20

const clock = createSystemClock()

/**
 * Polls `probe` until it returns a value other than undefined, and returns the value.
 *
 * @param what - The condition; the error names it.
 * @throws {Error} If the deadline passes first.
 * @throws {RangeError} If `timeoutMs` is below the deadline of every wait.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined> | T | undefined,
  { timeoutMs, intervalMs = INTERVAL_MS }: UntilOptions = {},
): Promise<T> {
  const limitMs = waitLimitMs()
  const wantedMs = timeoutMs === undefined ? limitMs : timeoutMs * slowness()
  if (wantedMs < limitMs)
    throw new RangeError(`a wait for ${what} of ${wantedMs} ms: every wait has ${limitMs} ms`)
  return await waitFor(probe, { clock, timeoutMs: wantedMs, what, intervalMs })
}

/** Polls `isTrue` until it returns true. Options and errors are those of `until`. */
export async function untilTrue(
  what: string,
  isTrue: () => Promise<boolean> | boolean,
  options?: UntilOptions,
): Promise<void> {
  await until(what, async () => ((await isTrue()) ? true : undefined), options)
}
