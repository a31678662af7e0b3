/** A bound in time for one call, and what comes of it. */

import { failure, invalidArgument } from '../errors.ts'
import type { Clock } from './clock.ts'

/** D-38: waits nest, and this is the outermost. */
export const TIMEOUT_MS = 10_000

/** Nobody is told it; an error made for each call would take longer than all else here. */
const OVER = new Error('over')

/**
 * Runs with a signal that aborts when the caller's does, or after `timeoutMs` with a TIMEOUT.
 *
 * @throws The caller's own reason when his signal aborts.
 */
export async function withDeadline<T>(
  options: {
    readonly clock: Clock
    readonly timeoutMs: number
    readonly signal?: AbortSignal | undefined
    /** For the message: `GET /v0/wallet/balance`. */
    readonly what: string
    /** Added to the message where a timeout may have had an effect; a read has none. */
    readonly doubt?: string | undefined
  },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, timeoutMs, signal, what, doubt = '' } = options
  if (!(timeoutMs >= 0)) throw invalidArgument('timeoutMs is a number of milliseconds.')
  signal?.throwIfAborted()
  const late = new AbortController()
  const done = new AbortController()
  const bound = late.signal
  const forget = signal && onAbort(signal, () => late.abort(signal.reason))
  clock.delay(timeoutMs, done.signal).then(
    () =>
      late.abort(
        failure('TIMEOUT', `${what} got no answer within ${timeoutMs} ms${doubt}.`, {
          definite: !doubt,
          retryable: true,
        }),
      ),
    () => {}, // Ended first.
  )
  try {
    return await new Promise<T>((resolve, reject) => {
      // What runs may not listen to its signal; and where it does, it may wrap the reason that callers see.
      bound.addEventListener('abort', () => reject(bound.reason))
      run(bound).then(resolve, (error) => reject(bound.aborted ? bound.reason : error))
    })
  } finally {
    done.abort(OVER)
    forget?.()
  }
}

const callsBySignal = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls when the signal aborts, until the function that it returns is called. All calls that share a signal share one
 * listener, as Node warns of a leak at the eleventh. It stays, and keeps the caller's timeout alive: Node may drop one
 * that only `AbortSignal.any` follows.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const known = callsBySignal.get(signal)
  const calls = known ?? new Set()
  calls.add(call)
  if (known === undefined) {
    callsBySignal.set(signal, calls)
    signal.addEventListener('abort', () => {
      for (const each of calls) each()
    })
  }
  return () => calls.delete(call)
}

/** What comes within so many milliseconds. @throws What `coming` rejects with, and an error when it is late. */
export async function inTime<T>(clock: Clock, ms: number, coming: Promise<T>): Promise<T> {
  const done = new AbortController()
  try {
    return await Promise.race([
      coming,
      clock.delay(ms, done.signal).then(() => Promise.reject(OVER)),
    ])
  } finally {
    done.abort(OVER)
  }
}
