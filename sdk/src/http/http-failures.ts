/** The meaning of replies that are not answers. Pages load it with the first write or refusal. */
import { applicationFailed, failure, type QuorumscanError } from '../errors.ts'
import { type HttpReply, type HttpRequest, isSafe, nameOf } from './http-request.ts'
import { errorIn, retryAfter } from './stated-errors.ts'

/** The error of a reply that is no answer (`isAnswered`). */
export function failureOf(request: HttpRequest, reply: HttpReply): QuorumscanError {
  const { status } = reply
  if (status >= 300 && status < 400) {
    const location = reply.header('location')
    const where = location === null ? '' : ` to ${location}`
    const message = `${nameOf(request)} is redirected${where}. Redirects are not followed: configure the final address.`
    return failure('INVALID_RESPONSE', message, { status })
  }
  const facts = { status, retryAfterMs: retryAfter(reply.header('retry-after')) }
  const stated = errorIn(reply.text, { ...facts, definite: isSafe(request) })
  if (stated !== null) return stated
  // A proxy in front of the server refuses without such a body, or without any.
  const isRefusal = status === 429 || (status >= 400 && status < 500 && status !== 408)
  // The ledger interface reports what it could not decode in one line of text.
  const line = status === 400 && reply.text.length < 500 ? reply.text.trim() : ''
  const isUnread = request.path.startsWith('/v2/') && line !== '' && !line.startsWith('<')
  return failure(
    isUnread ? 'INVALID_ARGUMENT' : 'INVALID_RESPONSE',
    `${nameOf(request)} was answered with status ${status} and ${line === '' ? 'no reason' : `"${line}"`}.`,
    {
      ...facts,
      definite: isSafe(request) || isRefusal,
      retryable: status === 429 || status >= 500,
      requestId: reply.header('x-request-id'),
    },
  )
}

/** A successful reply that the operation does not have. */
export function unreadable(request: HttpRequest, status: number): QuorumscanError {
  const message = `This version of the SDK does not understand the answer to ${nameOf(request)}.`
  return failure('INVALID_RESPONSE', message, { definite: isSafe(request), status })
}

/** The application's `fetch` threw an error of the SDK, or returned something else. The request may have been sent. */
export function fetchFailed(request: HttpRequest, cause: Error): QuorumscanError {
  return applicationFailed('`fetch`', cause, { definite: isSafe(request) })
}

/** The answer was not read to its end. A repeat would have the same answer. */
export function tooLarge(request: HttpRequest, cause: Error): QuorumscanError {
  const doubt = isSafe(request) ? '' : ' The request may have taken effect.'
  const message = `${nameOf(request)} was answered with ${cause.message}, which is more than any answer of this route.${doubt} Check the address, and what is between it and the server.`
  return failure('INVALID_RESPONSE', message, { definite: isSafe(request), cause })
}
