import { catalogue, type ErrorCode } from './catalogue.ts'

type Details = Readonly<Record<string, unknown>>

/**
 * The one error class that crosses process boundaries.
 *
 * `message` and `details` are safe for the caller. Everything else belongs in `cause`, which is logged and never
 * serialised.
 */
export class ScanError extends Error {
  override readonly name = 'ScanError'
  readonly code: ErrorCode
  readonly details: Details | null
  /** Seconds, for `retry-after`; null for none. */
  readonly retryAfterSeconds: number | null

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Details; retryAfterSeconds?: number | null } = {},
  ) {
    const { stackTraceLimit } = Error
    // The code of a refusal suffices, and to capture a stack trace takes as long as a lookup.
    if (catalogue[code].httpStatus < 500) Error.stackTraceLimit = 0
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.details = options.details ?? null
    this.retryAfterSeconds = options.retryAfterSeconds ?? null
  }

  get spec() {
    return catalogue[this.code]
  }
}

export function isScanError(error: unknown, ...codes: readonly ErrorCode[]): error is ScanError {
  return error instanceof ScanError && (codes.length === 0 || codes.includes(error.code))
}

/** The wire form (D-6). */
export function toErrorBody(error: ScanError, requestId: string) {
  return {
    error: error.message,
    code: error.code,
    definite: error.spec.definite,
    retryable: error.spec.retryable,
    request_id: requestId,
    details: error.details,
  }
}
