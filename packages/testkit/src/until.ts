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

/** Characters of the last value that are shown. */
const SHOWN_LENGTH_MAX = 1000

/**
 * As `until`, for a value that is read until it meets the condition, such as an answer of a server. The error shows the
 * value that was read last.
 */
export async function untilRead<T>(
  what: string,
  read: () => Promise<T> | T,
  isMet: (value: T) => boolean,
  options?: UntilOptions,
): Promise<T> {
  let last: T | undefined
  const probe = async () => {
    last = await read()
    return isMet(last) ? { value: last } : undefined
  }
  try {
    return (await until(what, probe, options)).value
  } catch (error) {
    if (error instanceof Error) error.message += `; last seen: ${shown(last)}`
    throw error
  }
}

/** Status and text of an answer; other values as JSON. */
function shown(value: unknown): string {
  const { status, text } = (value ?? {}) as { status?: unknown; text?: unknown }
  const all = typeof text === 'string' ? `${status} ${text}` : JSON.stringify(value)
  return String(all).slice(0, SHOWN_LENGTH_MAX)
}
