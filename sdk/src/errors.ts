/** The only class of errors that the SDK throws, except the reason of an aborted signal. */
import type { ClientErrorCode } from './client-error-codes.ts'
import type { ServerErrorCode } from './generated/error-codes.ts'

/**
 * All error codes, which are permanent. ERRORS.md explains each one. A code that only a newer server knows becomes
 * UNKNOWN_ERROR. `isErrorCode` tests whether a text is a code.
 */
export type ErrorCode = ServerErrorCode | ClientErrorCode

/**
 * The state of the payment when a registration or renewal fails, for this call and earlier ones together.
 *
 * `not-paid`: certainly no coin was locked. `unknown`: coin may have been locked, by this or an earlier call. `locked`:
 * coin is locked, and not decided yet. `refunded`: coin was locked and returned in full. `paid`: coin is spent.
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

/** Messages contain texts of servers: none can control a terminal, hide, or change the direction of what is read. */
const UNPRINTABLE = /[^\P{C}\n\t]|[\u2028\u2029]/gu
const UNKNOWN = { status: null, requestId: null, details: null, payment: null, retryAfterMs: null }

/** A failure, with all that a program needs to decide what to do next. */
export class QuorumscanError extends Error {
  override readonly name = 'QuorumscanError'
  declare readonly code: ErrorCode
  /** HTTP status of the answer; null without an answer, or if several nodes were asked. */
  declare readonly status: number | null
  /** True: the request certainly had no effect, and never will. Reads have none. */
  declare readonly definite: boolean
  /** True: the same call may succeed later. */
  declare readonly retryable: boolean
  /** Quote it to the operator of the server. */
  declare readonly requestId: string | null
  /** Details of the server, such as `{rule}` or `{windowOpensAt}`, with member names in camel case. */
  declare readonly details: Readonly<Record<string, unknown>> | null
  /** Set by `names.register`, `names.renew` and `payments`. While it is `unknown`, `definite` is false. */
  declare readonly payment: PaymentState | null
  /** How long the server asks to wait, in ms. */
  declare readonly retryAfterMs: number | null

  constructor(message: string, facts: ErrorFacts) {
    const { cause, ...own } = facts
    super(message.replace(UNPRINTABLE, '\ufffd'), cause === undefined ? undefined : { cause })
    Object.assign(this, UNKNOWN, own)
  }

  /** Where the code is explained: the row of ERRORS.md in the package. */
  get docs(): string {
    return `@quorumscan/sdk/ERRORS.md#${this.code}`
  }
}

/** Whether the error is a `QuorumscanError`, also of another copy of the SDK in the same program. */
export function isQuorumscanError(error: unknown): error is QuorumscanError {
  // Not by its class: an error of another realm, such as a test environment, has another `Error`.
  const { name, definite } = (error ?? {}) as {
    readonly name?: unknown
    readonly definite?: unknown
  }
  return name === 'QuorumscanError' && typeof definite === 'boolean'
}

type MoreFacts = Partial<Omit<ErrorFacts, 'code'>>

/** An error that certainly had no effect and that a retry cannot change, unless `more` states otherwise. */
export function failure(code: ErrorCode, message: string, more?: MoreFacts): QuorumscanError {
  return new QuorumscanError(message, { definite: true, retryable: false, ...more, code })
}

/** A transient failure: it certainly had no effect, and a retry may succeed. */
export function transient(code: ErrorCode, message: string, more?: MoreFacts): QuorumscanError {
  return failure(code, message, { retryable: true, ...more })
}

/** The error of an invalid argument. Nothing was sent. */
export function invalidArgument(message: string, cause?: unknown): QuorumscanError {
  return failure('INVALID_ARGUMENT', message, { cause })
}

/** What the application passed threw, or is of another form. Nothing was sent, unless `more` states otherwise. */
export function applicationFailed(what: string, cause: unknown, more?: MoreFacts): QuorumscanError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return failure('APPLICATION_FAILED', `${what} failed: ${reason}.`, { cause, ...more })
}

/** The platform has no SHA-256 and Ed25519, and none was passed in. */
export function cryptoUnavailable(cause?: unknown): QuorumscanError {
  const message =
    'This platform has no WebCrypto with Ed25519 (browsers need https or localhost): pass `crypto`.'
  return failure('CRYPTO_UNAVAILABLE', message, { cause })
}
