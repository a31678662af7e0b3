/**
 * The meaning of replies that are not answers: D-6, the ledger interface's errors, others. Pages load it with the first write
 * or refusal.
 */
import { type ErrorFacts, failure, type QuorumscanError } from '../errors.ts'
import { type ServerErrorCode, serverErrorCodes } from '../generated/error-codes.ts'
import { renameMembers } from '../platform/camel.ts'
import { type HttpReply, type HttpRequest, isSafe, nameOf, parseJson } from './http-request.ts'

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

/** The error that the ledger interface sends at the end of a stream; null: the text is another one. */
export function ledgerErrorOf(text: string): QuorumscanError | null {
  return errorIn(text, { definite: true })
}

/** A `retry-after` in milliseconds; null unless it is a whole number of seconds. */
export function retryAfter(text: string | null): number | null {
  return text !== null && /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : null
}

/**
 * The error in a body: of D-6, or of the ledger interface (docs/upstream.md §L7.1); null: neither.
 *
 * @param facts.definite - The request certainly had no effect, for any body.
 */
function errorIn(text: string, facts: Pick<ErrorFacts, 'status' | 'retryAfterMs' | 'definite'>) {
  const { code, error, cause, ...body }: Readonly<Record<string, unknown>> = Object(parseJson(text))
  const status = facts.status ?? 400 // The end of a stream has none.
  if (typeof code !== 'string') return null
  const isKnown = (serverErrorCodes as readonly string[]).includes(code)
  /** With the code in the details, if only a newer server knows it. */
  const stated = (message: string, sent: unknown, more: Omit<ErrorFacts, 'code'>) => {
    const details = renameMembers(sent ?? null) as QuorumscanError['details']
    return failure(isKnown ? (code as ServerErrorCode) : 'UNKNOWN_ERROR', message, {
      ...facts,
      ...more,
      definite: facts.definite || more.definite,
      details: isKnown ? details : { ...details, code },
    })
  }
  if (typeof cause === 'string') {
    const { definiteAnswer, retryInfo, correlationId, traceId } = body
    return stated(cause, body['context'], {
      // Without a `definiteAnswer`: a refused request was not submitted.
      definite: (definiteAnswer as boolean | null) ?? status < 500,
      retryable: typeof retryInfo === 'string' || status === 503,
      requestId: String(correlationId ?? traceId ?? ''),
    })
  }
  const { definite, retryable } = body
  const isOne = typeof error === 'string' && typeof definite === 'boolean'
  if (!isOne || typeof retryable !== 'boolean') return null
  const requestId = String(body['request_id'])
  return stated(ownWords(error), body['details'], { definite, retryable, requestId })
}

/** The message with members as callers of the SDK name them: `receiver`, not `body.receiver_party_id`. */
function ownWords(message: string): string {
  return message.replace(/\bbody\.([\w.]+)/g, (_, path: string) =>
    path
      .replace('receiver_party_id', 'receiver')
      .replace(/_([a-z])/g, (__, letter: string) => letter.toUpperCase()),
  )
}
