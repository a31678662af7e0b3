/** Timeouts of calls. */

import { onAbort } from '@quorumscan/verifier'
import { failure, invalidArgument, isQuorumscanError } from '../errors.ts'
import type { Clock } from './clock.ts'
import { shownValue } from './shown-value.ts'

/** The outermost of the nested waits (D-38). */
export const READ_TIMEOUT_MS = 10_000

/** An internal reason, shared because creating an error for each call is slow. */
const CALL_ENDED = new Error('the call has ended')

/**
 * Runs with a signal that aborts with the caller's signal, or after `timeoutMs` with a TIMEOUT.
 *
 * @throws The reason of the caller's signal when it aborts. With `doubt`, an error of the SDK as reason is only the `cause`
 *   of a TIMEOUT: it says nothing of the effect of this call.
 */
export async function withDeadline<T>(
  options: {
    readonly clock: Clock
    readonly timeoutMs: number
    readonly signal?: AbortSignal | undefined
    /** For the message: `GET /v0/wallet/balance`. */
    readonly what: string
    /** Added to the message if the call may have had an effect. */
    readonly doubt?: string | undefined
  },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, timeoutMs, signal, what, doubt = '' } = options
  if (!(timeoutMs >= 0))
    throw invalidArgument(
      `\`timeoutMs\` must be a number of milliseconds, not ${shownValue(timeoutMs)}.`,
    )
  signal?.throwIfAborted()
  const late = new AbortController()
  const done = new AbortController()
  const bound = late.signal
  const forget =
    signal &&
    onAbort(signal, () => late.abort(doubt ? doubtful(what, signal.reason) : signal.reason))
  const message = `${what} got no answer within ${timeoutMs} ms${doubt}.`
  const expire = () =>
    late.abort(failure('TIMEOUT', message, { definite: !doubt, retryable: true }))
  clock.delay(timeoutMs, done.signal).then(expire, () => {}) // The call ended first.
  try {
    return await new Promise<T>((resolve, reject) => {
      // The function may ignore its signal, or wrap the reason that the caller should get.
      bound.addEventListener('abort', () => reject(bound.reason))
      run(bound).then(resolve, (error) => reject(bound.aborted ? bound.reason : error))
    })
  } finally {
    done.abort(CALL_ENDED)
    forget?.()
  }
}

/** What a call rejects with whose signal aborted when it may have had an effect. */
export function doubtful(what: string, reason: unknown): unknown {
  if (!isQuorumscanError(reason)) return reason
  const message = `${what} was cancelled; it may or may not have taken effect.`
  return failure('TIMEOUT', message, { definite: false, retryable: true, cause: reason })
}
