/** What is known of a payment for a name: which contract is whose, and what a failure says about the coin. */
import { isQuorumscanError, type PaymentState, QuorumscanError } from '../errors.ts'
import type { Contract } from './wallet.ts'

/** The name stands in quotes at the end of what the subscription says about itself; names hold no quote. */
export function isFor(
  contract: Contract,
  wanted: { readonly name: string; readonly party: string },
): boolean {
  const data = Object(contract.payload['subscriptionData']) as Record<string, unknown>
  return (
    data['sender'] === wanted.party &&
    typeof data['description'] === 'string' &&
    data['description'].endsWith(`"${wanted.name}"`)
  )
}

/** Whether it is certain that nothing happened; an abort by the caller goes through as it is. */
export function isCertain(error: unknown, signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true || !isQuorumscanError(error) || error.definite
}

/** Whether the contract is used up. */
export function isGone(error: unknown): boolean {
  return (
    isQuorumscanError(error) &&
    (error.code === 'CONTRACT_NOT_FOUND' || error.code === 'CONTRACT_CONSUMED')
  )
}

/** The same error, with what is known of the coin. */
export function withPayment(error: unknown, payment: PaymentState): unknown {
  if (!isQuorumscanError(error) || error.payment !== null) return error
  const { code, status, definite, retryable, requestId, details, retryAfterMs } = error
  return new QuorumscanError(error.message, {
    ...{ code, status, definite, retryable, requestId, details, retryAfterMs },
    payment,
    cause: error.cause ?? error,
  })
}
