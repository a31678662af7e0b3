/** Ways to wait with a limit: for a condition, for work that may be late, and for work that fails at first. */
import { backoffMs, linkedController } from '@quorumscan/verifier'
import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

/** Does the work after the time, unless the signal aborts first. */
export function afterDelay(
  bound: { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal },
  work: () => unknown,
): Promise<unknown> {
  return bound.clock.delay(bound.ms, bound.signal).then(work, () => {})
}

/** Whether the work succeeds. */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

/** As `Promise.withResolvers`, which Node.js 20 lacks. */
export function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<T>((onValue, onReason) => {
    resolve = onValue
    reject = onReason
  })
  return { promise, resolve, reject }
}

/**
 * Runs the work. If it takes longer than `timeoutMs`, resolves with the result of `onTimeout`. The signal of the work
 * aborts when the time is over, and when the caller's does.
 */
export async function withTimeout<T, Late>(
  bound: { readonly clock: Clock; readonly timeoutMs: number; readonly signal?: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
  onTimeout: () => Late,
): Promise<T | Late> {
  const { clock, timeoutMs, signal } = bound
  const over = linkedController(signal)
  const timeout = clock.delay(timeoutMs, over.signal).then(onTimeout, () => {
    // The caller's signal ends the wait, not the work. After the work, this rejection is ignored.
    throw signal?.reason
  })
  try {
    return await Promise.race([work(over.signal), timeout])
  } finally {
    over.abort()
  }
}

/** Pauses of `waitFor` grow up to this. */
const PAUSE_MS_MAX = 250

/**
 * Polls `probe` until it returns a value other than undefined, and returns that. The pauses grow with the time waited, to
 * a tenth of it, so that a long wait costs little and ends at most a tenth late.
 *
 * @throws {Error} If `timeoutMs` passes first.
 */
export async function waitFor<T>(
  probe: () => Promise<T | undefined> | T | undefined,
  options: {
    readonly clock: Clock
    readonly timeoutMs: number
    /** Names the condition in the error. */
    readonly what: string
    /** The first pause. Default 50 ms. */
    readonly intervalMs?: number
    readonly signal?: AbortSignal
  },
): Promise<T> {
  const { clock, timeoutMs, what, intervalMs = 50, signal } = options
  const startMs = clock.monotonicMs()
  for (;;) {
    const value = await probe()
    if (value !== undefined) return value
    const waitedMs = clock.monotonicMs() - startMs
    if (waitedMs >= timeoutMs)
      throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`)
    const pauseMs = Math.max(intervalMs, Math.min(waitedMs / 10, PAUSE_MS_MAX))
    await clock.delay(Math.min(pauseMs, timeoutMs - waitedMs), signal)
  }
}

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
