import type { Clock } from './clock.ts'

/**
 * Polls `probe` until it returns a value other than undefined, and returns that.
 *
 * @throws {Error} If `timeoutMs` passes first.
 */
export async function waitFor<T>(
  probe: () => Promise<T | undefined> | T | undefined,
  options: {
    readonly clock: Clock
    readonly timeoutMs: number
    /** What is waited for, for the error. */
    readonly what: string
    readonly intervalMs?: number
    readonly signal?: AbortSignal
  },
): Promise<T> {
  const deadline = options.clock.monotonicMs() + options.timeoutMs
  for (;;) {
    const value = await probe()
    if (value !== undefined) return value
    if (options.clock.monotonicMs() >= deadline)
      throw new Error(`timed out after ${options.timeoutMs} ms waiting for ${options.what}`)
    await options.clock.delay(options.intervalMs ?? 50, options.signal)
  }
}
