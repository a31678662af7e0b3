/** The writing half of the ordering port over HTTP: offers entries to the synchronizer. */
import { fromUtf8 } from '@quorumscan/base'
import { type ErrorCode, ScanError } from '@quorumscan/errors'
import { createUndiciTransport } from './undici-transport.ts'

/** The synchronizer's longest answer is an error body. */
const REPLY_BYTES_MAX = 64 * 1024

export type SubmitClient = AsyncDisposable & {
  /**
   * As `Ordering.submit`.
   *
   * @throws {ScanError} RATE_LIMITED, BODY_TOO_LARGE, INVALID_ARGUMENT, SUBMISSION_EXPIRED, LOG_FULL, CLOCK_OFF,
   *   LOG_REGRESSED, NOT_READY, OVERLOADED: not accepted;
   *   DEPENDENCY_UNAVAILABLE: unknown. Or the signal's reason.
   */
  submit(bytes: Uint8Array, signal: AbortSignal): Promise<void>
}

export function createSubmitClient(options: {
  readonly url: string
  /** What makes this process a peer of the synchronizer; without one it has a stranger's share. */
  readonly token?: string | null
}): SubmitClient {
  const { url, token = null } = options
  const transport = createUndiciTransport(
    token === null ? {} : { peerTokenByOrigin: new Map([[new URL(url).origin, token]]) },
  )
  return {
    async submit(bytes, signal) {
      const reply = await transport
        .request({
          url,
          method: 'POST',
          path: '/v0/submit',
          headers: { 'content-type': 'application/octet-stream' },
          body: new Uint8Array(bytes),
          bytesMax: REPLY_BYTES_MAX,
          channel: 'lookup',
          isPublicOnly: false, // The synchronizer is configured by the operator.
          signal,
        })
        .catch((cause: unknown) => {
          signal.throwIfAborted()
          throw new ScanError('DEPENDENCY_UNAVAILABLE', 'the synchronizer cannot be reached', {
            cause,
          })
        })
      if (reply.status !== 200) throw refusal(reply)
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

type SubmitReply = {
  readonly status: number
  readonly body: Uint8Array
  header(name: string): string | null
}

/** What the synchronizer says before it has written anything; its sentence says why. */
const NOT_WRITTEN: ReadonlySet<ErrorCode> = new Set([
  'CLOCK_OFF',
  'LOG_FULL',
  'LOG_REGRESSED',
  'NOT_READY',
  'OVERLOADED',
  'SUBMISSION_EXPIRED',
])

function refusal(reply: SubmitReply): ScanError {
  const { status } = reply
  const seconds = Number(reply.header('retry-after') ?? '1')
  const retryAfterSeconds = Number.isSafeInteger(seconds) && seconds > 0 ? seconds : 1
  if (status === 429)
    return new ScanError('RATE_LIMITED', 'the synchronizer is given too much at once', {
      retryAfterSeconds,
    })
  const told = errorOf(reply.body)
  if (told !== null && NOT_WRITTEN.has(told.code)) {
    const error = new ScanError(told.code, told.error)
    return error.spec.retryable
      ? new ScanError(told.code, told.error, { retryAfterSeconds })
      : error
  }
  if (status === 413) return new ScanError('BODY_TOO_LARGE', 'the submission is too large')
  if (status >= 400 && status < 500)
    return new ScanError(
      'INVALID_ARGUMENT',
      told?.error ?? 'the synchronizer refused the submission',
      {
        cause: new Error(`status ${status}`),
      },
    )
  return new ScanError('DEPENDENCY_UNAVAILABLE', 'the synchronizer did not accept', {
    cause: new Error(`status ${status}`),
  })
}

/** The body of an error, or null if it is none. */
function errorOf(body: Uint8Array): { readonly code: ErrorCode; readonly error: string } | null {
  try {
    const { code, error } = Object(JSON.parse(fromUtf8(body)))
    return typeof code === 'string' && typeof error === 'string'
      ? { code: code as ErrorCode, error }
      : null
  } catch {
    // Not of the synchronizer: the status is all that there is.
    return null
  }
}
