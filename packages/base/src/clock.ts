/**
 * The only access to the wall clock and to timers. All other code receives a Clock, so that tests control time and a
 * cluster can run with a wrong clock.
 */
export interface Clock {
  /** Wall clock, µs since the epoch. May step. */
  nowMicros(): number
  /** Monotonic milliseconds from an arbitrary start, for durations and deadlines. */
  monotonicMs(): number
  /** Resolves after `ms`; rejects with the signal’s reason when aborted. Until then the process stays alive. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
}

export const MICROS_PER_MS = 1000

/**
 * The machine's clock.
 *
 * @param skewMicros - Added to the wall clock: a node with a wrong clock (fault injection).
 */
export function createSystemClock(skewMicros = 0): Clock {
  return {
    nowMicros: () => Date.now() * MICROS_PER_MS + skewMicros,
    monotonicMs: () => performance.now(),
    delay: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const onAbort = () => {
          clearTimeout(timer)
          reject(signal?.reason)
        }
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        }, ms)
        signal?.addEventListener('abort', onAbort, { once: true })
      }),
  }
}
