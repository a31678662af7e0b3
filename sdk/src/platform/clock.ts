/** Time and chance, handed in so that tests hold them; only here the SDK asks the platform for time. */

/** All that the SDK needs of a clock. */
export interface Clock {
  /** µs since the epoch; only freshness looks at it. */
  nowMicros(): number
  /** Milliseconds that only grow; measures waits. */
  monotonicMs(): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
}

/** An instant of the ledger, such as `2026-11-21T10:00:00.000000Z`, in ms by the wall clock. */
export function instantMs(instant: string): number {
  // Platforms differ in what they make of six digits.
  return Date.parse(`${instant.slice(0, 23)}Z`)
}

/**
 * Whether an entry has ended by the caller's clock, whatever the state says that it was read from: somebody else may
 * own the name by now.
 */
export function hasEnded(expiresAt: string | null, clock: Pick<Clock, 'nowMicros'>): boolean {
  return expiresAt !== null && instantMs(expiresAt) * 1000 <= clock.nowMicros()
}

/** Timers of platforms count in 31 bits and end at once beyond; nobody waits for 24 days. */
const DELAY_MS_MAX = 2 ** 31 - 1

/** The platform's clock. It keeps no timer after an abort. */
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

/** From 0 to 1, for jitter; never for secrets. */
export type Random = () => number

export const platformRandom: Random = () =>
  (globalThis.crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32
