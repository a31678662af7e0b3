/** Requests to a validator, and the meaning of replies that are not answers: D-6, the ledger interface's errors, others. */
import { type ErrorFacts, failure, type QuorumscanError } from '../errors.ts'
import { type ServerErrorCode, serverErrorCodes } from '../generated/error-codes.ts'
import { toCamel } from '../platform/camel.ts'

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Default `application/json`; `text/plain` if a browser should need no preflight (D-14). */
  readonly contentType?: 'text/plain'
  /** Whether a repeat changes nothing more than the first request. Default: for GET only. */
  readonly isSafe?: boolean | undefined
  /** Whether to send the token. Default true. */
  readonly isAuthenticated?: boolean
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  /** A longer answer is an error. Default: the limit of the route (`answer-limits.ts`). */
  readonly bytesMax?: number
  /** Which replies without a 2xx status are answers. */
  readonly isAnswer?: (reply: HttpReply) => boolean
}

export type HttpReply = {
  readonly status: number
  header(name: string): string | null
  readonly text: string
}

/** Whether a repeat changes nothing more than the first request. */
export function isSafe(request: HttpRequest): boolean {
  return request.isSafe ?? request.method === 'GET'
}

/** For messages: `GET /v0/wallet/balance`. */
export function nameOf(request: HttpRequest): string {
  return `${request.method} ${request.path}`
}

/** null: the reply is an answer. */
export function failureOf(request: HttpRequest, reply: HttpReply): QuorumscanError | null {
  const { status } = reply
  if ((status >= 200 && status < 300) || request.isAnswer?.(reply) === true) return null
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
    const details = toCamel(sent ?? null) as QuorumscanError['details']
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

/** A successful reply that the operation does not have. */
export function unreadable(request: HttpRequest, status: number): QuorumscanError {
  const message = `This version of the SDK does not understand the answer to ${nameOf(request)}.`
  return failure('INVALID_RESPONSE', message, { definite: isSafe(request), status })
}

/** The answer was not read to its end. A repeat would have the same answer. */
export function tooLarge(request: HttpRequest, cause: Error): QuorumscanError {
  const doubt = isSafe(request) ? '' : ' The request may have taken effect.'
  const message = `${nameOf(request)} was answered with ${cause.message}, which is more than any answer of this route.${doubt} Check the address, and what is between it and the server.`
  return failure('INVALID_RESPONSE', message, { definite: isSafe(request), cause })
}

/** @returns undefined if the text is not JSON, such as a truncated body. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // The caller decides what that means.
  }
}
