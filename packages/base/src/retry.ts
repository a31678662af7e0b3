import { backoffMs } from '@quorumscan/verifier'
import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

/** Runs `work` until it succeeds: doubling delays with equal jitter (half fixed, half random). */
export async function retry<T>(
  work: () => Promise<T>,
  options: {
    readonly clock: Clock
    readonly random: Random
    readonly signal: AbortSignal
    readonly attemptsMax: number
    readonly delayMsMin: number
    readonly delayMsMax: number
    /** Any other error is thrown at once. */
    readonly isRetryable: (error: unknown) => boolean
  },
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    options.signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (attempt >= options.attemptsMax || !options.isRetryable(error)) throw error
      const { random, delayMsMin: minMs, delayMsMax: maxMs } = options
      const bounds = { minMs, maxMs, random: () => random.fraction() }
      await options.clock.delay(backoffMs(attempt, bounds), options.signal)
    }
  }
}
