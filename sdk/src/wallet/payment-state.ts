/** What an error says of its payment. `payment` and `definite` are derived here alone, so that they never disagree. */
import {
  type ErrorCode,
  failure,
  isQuorumscanError,
  type PaymentState,
  type QuorumscanError,
} from '../errors.ts'
import type { KnownError } from '../known-errors.ts'

/** The same error with the state of the payment, unless it has one. It is definite only if the state is certain. */
export function withPayment(error: QuorumscanError, state: PaymentState): KnownError
export function withPayment(error: unknown, state: PaymentState): unknown
export function withPayment(error: unknown, state: PaymentState): unknown {
  if (!isQuorumscanError(error)) return error
  const payment = error.payment ?? state
  const definite = error.definite && payment !== 'unknown'
  if (payment === error.payment && definite === error.definite) return error
  const { code, message, name: _, cause = error, ...facts } = error
  return failure(code, message, { ...facts, definite, payment, cause })
}

/** Whether no coin has moved for good, and none will by this payment. */
export function isUnpaid(state: PaymentState | null): boolean {
  return state === 'not-paid' || state === 'refunded'
}

const UNDECIDED: readonly ErrorCode[] = ['PAYMENT_UNKNOWN', 'PAYMENT_PENDING', 'CONSENSUS_LAGGING']

/**
 * The error of a payment that may or may not take effect.
 *
 * @param thrown - The last failure. If the caller's signal aborted it may be its reason, which says nothing of the payment.
 */
export function unknownPayment(thrown: unknown, signal?: AbortSignal): KnownError {
  const isCancelled = signal?.aborted === true
  const cause = isCancelled ? new Error('The wait was cancelled.', { cause: thrown }) : thrown
  const isKnown = isQuorumscanError(cause) && !cause.definite && cause.payment !== null
  if (isKnown && UNDECIDED.includes(cause.code)) return cause as KnownError
  const reason = cause instanceof Error ? cause.message : 'The wait was cancelled.'
  const message = `It is not known whether the payment took effect. ${reason} To settle it is safe: the ledger is read first, and it pays at most once.`
  const error = failure('PAYMENT_UNKNOWN', message, { definite: false, retryable: true, cause })
  const state = isQuorumscanError(cause) && !isUnpaid(cause.payment) ? cause.payment : null
  return withPayment(error, state ?? 'unknown')
}
