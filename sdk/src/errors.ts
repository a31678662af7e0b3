/** The one class of everything that the SDK throws, but for the reason of an aborted signal. */
import type { ClientErrorCode } from './client-error-codes.ts'
import type { ServerErrorCode } from './generated/error-codes.ts'

/**
 * All codes that there are; ERRORS.md has a sentence for each, and they are permanent. What a newer server says
 * instead is UNKNOWN_ERROR. `isErrorCode` tells whether a text is one.
 */
export type ErrorCode = ServerErrorCode | ClientErrorCode

/**
 * What is known of the coin when a registration or renewal fails, this call and earlier ones together.
 *
 * `not-paid`: certainly no coin was locked. `unknown`: it may have been; also where not even an earlier call
 * could be looked for. `locked`: it was, and nobody has decided yet. `refunded`: it was, and all of it came back. `paid`: it is spent.
 */
export type PaymentState = 'not-paid' | 'unknown' | 'locked' | 'refunded' | 'paid'

export type ErrorFacts = {
  readonly code: ErrorCode
  readonly status?: number | null
  readonly definite: boolean
  readonly retryable: boolean
  readonly requestId?: string | null
  readonly details?: Readonly<Record<string, unknown>> | null
  readonly payment?: PaymentState | null
  readonly retryAfterMs?: number | null
  readonly cause?: unknown
}

const UNKNOWN = { status: null, requestId: null, details: null, payment: null, retryAfterMs: null }

/** A failure with everything that is needed to decide what to do next. */
export class QuorumscanError extends Error {
  override readonly name = 'QuorumscanError'
  declare readonly code: ErrorCode
  /** Of the HTTP answer; null where none came, or where several nodes were asked. */
  declare readonly status: number | null
  /** True: the request certainly had no effect and never will have. Reads have none. */
  declare readonly definite: boolean
  /** True: the same call may succeed later. */
  declare readonly retryable: boolean
  /** To be quoted to whoever runs the server. */
  declare readonly requestId: string | null
  /** What the server adds, such as `{rule}` or `{windowOpensAt}`; names as everywhere in the SDK. */
  declare readonly details: Readonly<Record<string, unknown>> | null
  /** Set by `names.register` and `names.renew` only. */
  declare readonly payment: PaymentState | null
  /** How long the server asks to wait. */
  declare readonly retryAfterMs: number | null

  constructor(message: string, facts: ErrorFacts) {
    const { cause, ...own } = facts
    super(message, cause === undefined ? undefined : { cause })
    Object.assign(this, UNKNOWN, own)
  }
}

/** Whether it is one of ours, also when it comes from another copy of the SDK in the same program. */
export function isQuorumscanError(error: unknown): error is QuorumscanError {
  return error instanceof Error && error.name === 'QuorumscanError' && 'definite' in error
}

type MoreFacts = Partial<Omit<ErrorFacts, 'code'>>

/** An error that certainly had no effect and that a second try does not mend, unless `more` states otherwise. */
export function failure(code: ErrorCode, message: string, more?: MoreFacts): QuorumscanError {
  return new QuorumscanError(message, { definite: true, retryable: false, ...more, code })
}

/** An error that certainly had no effect; a second try may succeed. */
export function passing(code: ErrorCode, message: string, more?: MoreFacts): QuorumscanError {
  return failure(code, message, { retryable: true, ...more })
}

/** An argument is invalid: nothing was sent. */
export function invalidArgument(message: string, cause?: unknown): QuorumscanError {
  return failure('INVALID_ARGUMENT', message, { cause })
}

/** The platform has no SHA-256 and Ed25519, and none was passed in. */
export function cryptoUnavailable(cause?: unknown): QuorumscanError {
  return failure(
    'CRYPTO_UNAVAILABLE',
    'No WebCrypto with Ed25519 here (browsers need https or localhost): pass `crypto`.',
    { cause },
  )
}
