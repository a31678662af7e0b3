/** The one class of everything that the SDK throws, but for the reason of an aborted signal. */
import type { ClientErrorCode } from './client-error-codes.ts'
import type { ServerErrorCode } from './generated/error-codes.ts'

/** Codes are permanent; ERRORS.md has a sentence for each. Servers may be newer than the SDK. */
export type ErrorCode = ServerErrorCode | ClientErrorCode | (string & {})

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

/** A failure with everything that is needed to decide what to do next. */
export class QuorumscanError extends Error {
  override readonly name = 'QuorumscanError'
  readonly code: ErrorCode
  /** Of the HTTP answer; null where none came, or where several nodes were asked. */
  readonly status: number | null
  /** True: the request certainly had no effect and never will have. Reads have none. */
  readonly definite: boolean
  /** True: the same call may succeed later. */
  readonly retryable: boolean
  /** To be quoted to whoever runs the server. */
  readonly requestId: string | null
  /** What the server adds, such as `{rule}` or `{path}`. */
  readonly details: Readonly<Record<string, unknown>> | null
  /** Set by `names.register` and `names.renew` only. */
  readonly payment: PaymentState | null
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | null

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = facts.code
    this.status = facts.status ?? null
    this.definite = facts.definite
    this.retryable = facts.retryable
    this.requestId = facts.requestId ?? null
    this.details = facts.details ?? null
    this.payment = facts.payment ?? null
    this.retryAfterMs = facts.retryAfterMs ?? null
  }
}

/** Whether it is one of ours, also when it comes from another copy of the SDK in the same program. */
export function isQuorumscanError(error: unknown): error is QuorumscanError {
  return error instanceof Error && error.name === 'QuorumscanError' && 'definite' in error
}

/** An argument that makes no sense: nothing was sent. */
export function invalidArgument(message: string, cause?: unknown): QuorumscanError {
  return new QuorumscanError(message, {
    code: 'INVALID_ARGUMENT',
    definite: true,
    retryable: false,
    cause,
  })
}
