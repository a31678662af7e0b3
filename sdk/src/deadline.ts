/** A bound in time for one call, and what comes of it. */
import type { Clock } from './clock.ts'
import { QuorumscanError } from './errors.ts'

/** D-38: waits nest, and this is the outermost. */
export const TIMEOUT_MS = 10_000

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
    /** Whether a timeout certainly had no effect. */
    readonly isRead: boolean
  },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, timeoutMs, signal, what } = options
  signal?.throwIfAborted()
  const late = new AbortController()
  const done = new AbortController()
  const bound = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])
  const effect = options.isRead ? '' : '; it may or may not have taken effect'
  clock.delay(timeoutMs, done.signal).then(
    () =>
      late.abort(
        new QuorumscanError(`${what} got no answer within ${timeoutMs} ms${effect}.`, {
          code: 'TIMEOUT',
          definite: options.isRead,
          retryable: true,
        }),
      ),
    () => {}, // Ended first.
  )
  try {
    return await abortable(run(bound), bound)
  } finally {
    done.abort()
  }
}

/** Settles with the promise, or rejects with the signal's reason where what runs does not listen to it. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } catch (error) {
    // Whoever listens may wrap the reason; callers see the reason itself.
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
