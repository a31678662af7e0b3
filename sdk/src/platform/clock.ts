/** Time and randomness of the platform, which tests replace. */
import { parseInstant, toHex } from '@quorumscan/verifier'
import { invalidArgument } from '../errors.ts'
import { shownValue } from './shown-value.ts'

/** The clock of a client. */
export interface Clock {
  /** µs since the epoch, used only for freshness. */
  nowMicros(): number
  /** Milliseconds that only grow, used for waits. */
  monotonicMs(): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
}

/** An instant of the ledger, such as `2026-11-21T10:00:00.000000Z`, in ms by the wall clock. */
export function instantMs(instant: string): number {
  // Platforms parse six digits differently.
  return Date.parse(`${instant.slice(0, 23)}Z`)
}

/** The µs since 1970 of a time of the SDK, or of `Date.toISOString`. */
export function microsOf(time: string): number {
  const micros = parseInstant(String(time)) ?? Date.parse(time) * 1000
  if (Number.isSafeInteger(micros) && micros >= 0) return micros
  throw invalidArgument(
    `A time must be ISO-8601 UTC, such as 2026-11-22T10:00:00.000000Z, not ${shownValue(time)}.`,
  )
}

/** An RFC 3339 date-time of another service, with any offset, in UTC; undefined: it is not one. */
export function utcOf(text: string): string | undefined {
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/**
 * Whether an entry has expired by the caller's clock, also if it was live at the offset that was read. The name may have
 * another owner by now.
 *
 * @param clockSkewMs - How far the clock is proven to be behind, unless it is corrected already.
 */
export function hasEnded(
  expiresAt: string | null,
  clock: Pick<Clock, 'nowMicros'>,
  clockSkewMs: number | null = null,
): boolean {
  const nowMs = clock.nowMicros() / 1000 + (clockSkewMs ?? 0)
  return expiresAt !== null && instantMs(expiresAt) <= nowMs
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

/** From 0 to 1, for jitter; never for secrets. */
export type Random = () => number

export const platformRandom: Random = () =>
  (globalThis.crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32

/** A unique id. `crypto.randomUUID` is missing on pages that are neither https nor localhost. */
export function randomId(): string {
  return toHex(globalThis.crypto.getRandomValues(new Uint8Array(16)))
}
