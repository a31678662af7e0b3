/** The clock of the platform, which tests replace. */

/** The clock of a client. */
export interface Clock {
  /** µs since the epoch, used only for freshness. */
  nowMicros(): number
  /** Milliseconds that only grow, used for waits. */
  monotonicMs(): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
}

/** The longest timer of platforms, 24 days. A longer one would end at once. */
const DELAY_MS_MAX = 2 ** 31 - 1

/** The platform's clock. It clears its timer on abort. */
export const systemClock: Clock = {
  nowMicros: () => Date.now() * 1000,
  monotonicMs: () => performance.now(),
  delay(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason)
      const abort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', abort)
          resolve()
        },
        Math.min(ms, DELAY_MS_MAX),
      )
      signal?.addEventListener('abort', abort, { once: true })
    })
  },
}

/** An internal reason, shared because creating an error for each wait is slow. */
const WAIT_ENDED = new Error('the wait has ended')

/** Resolves with `coming` within `ms`. @throws The error of `coming`, or another one if it is late. */
export async function inTime<T>(clock: Clock, ms: number, coming: Promise<T>): Promise<T> {
  const done = new AbortController()
  try {
    return await Promise.race([
      coming,
      clock.delay(ms, done.signal).then(() => Promise.reject(new Error('too late'))),
    ])
  } finally {
    done.abort(WAIT_ENDED)
  }
}
