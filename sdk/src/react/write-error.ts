/** Errors of hooks that write. */
import { applicationFailed, failure, isQuorumscanError, type QuorumscanError } from '../errors.ts'

/** An error that is none of the SDK came from the application: the write may have taken effect. */
export function writeError(error: unknown): QuorumscanError {
  if (isQuorumscanError(error)) return error
  return applicationFailed('What the application passed', error, { definite: false })
}

/** A transfer that was cancelled before its call sent anything. An earlier call may have paid with the id of the caller. */
export function cancelledTransfer(trackingId: string | undefined): QuorumscanError {
  if (trackingId === undefined) return failure('CLOSED', 'The call was cancelled. It sent nothing.')
  const message =
    'The call was cancelled and sent nothing, but an earlier one with this `trackingId` may have paid.'
  const facts = { definite: false, retryable: true, payment: 'unknown' } as const
  return failure('PAYMENT_UNKNOWN', message, facts)
}
