/** What an HTTP reply that is no answer means: D-6, the ledger interface's errors, and what others say. */
import { type ErrorCode, failure, type QuorumscanError } from '../errors.ts'
import { type ServerErrorCode, serverErrorCodes } from '../generated/error-codes.ts'
import { toCamel } from '../platform/camel.ts'
import { type HttpReply, type HttpRequest, isSafe, nameOf } from './request.ts'

/** null: it is an answer. */
export function failureOf(request: HttpRequest, reply: HttpReply): QuorumscanError | null {
  const { status } = reply
  if ((status >= 200 && status < 300) || request.isAnswer?.(reply) === true) return null
  if (status >= 300 && status < 400)
    return failure(
      'INVALID_RESPONSE',
      `${nameOf(request)} is redirected${reply.header('location') === null ? '' : ` to ${reply.header('location')}`}. Redirects are not followed: configure the final address.`,
      { status },
    )
  const facts = { status, retryAfterMs: retryAfter(reply.header('retry-after')) }
  const said = errorIn(reply.text, { ...facts, definite: isSafe(request) })
  if (said !== null) return said
  // Whoever stands before the server says so without our body, or with none at all.
  const isRefusal = status === 429 || (status >= 400 && status < 500 && status !== 408)
  // The ledger interface says in one line of text what it could not read.
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

/** What the ledger interface says at the end of a stream; null: it is no error of it. */
export function ledgerErrorOf(text: string): QuorumscanError | null {
  return errorIn(text, { definite: true })
}

/** A `retry-after` in milliseconds; null unless it is a whole number of seconds. */
export function retryAfter(text: string | null): number | null {
  return text !== null && /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : null
}

/**
 * What a body says of a failure: D-6, or the ledger interface's (docs/upstream.md §L7.1); null: neither.
 *
 * @param facts.definite - It certainly had no effect, whatever the body says.
 */
function errorIn(
  text: string,
  facts: {
    readonly status?: number
    readonly retryAfterMs?: number | null
    readonly definite: boolean
  },
): QuorumscanError | null {
  const { code, error, cause, ...body } = Object(parseJson(text)) as Readonly<
    Record<string, unknown>
  >
  const { status = 400 } = facts // At the end of a stream none comes.
  if (typeof code !== 'string') return null
  if (typeof cause === 'string') {
    const { definiteAnswer, retryInfo, correlationId, traceId } = body
    return failure(codeOf(code), cause, {
      ...facts,
      // Without an answer of its own: what was refused as a request was not submitted.
      definite: facts.definite || ((definiteAnswer as boolean | null) ?? status < 500),
      retryable: typeof retryInfo === 'string' || status === 503,
      requestId: String(correlationId ?? traceId ?? ''),
      details: detailsOf(code, body['context']),
    })
  }
  const { definite, retryable } = body
  const isOne = typeof error === 'string' && typeof definite === 'boolean'
  if (!isOne || typeof retryable !== 'boolean') return null
  return failure(codeOf(code), error, {
    ...facts,
    definite: facts.definite || definite,
    retryable,
    requestId: String(body['request_id']),
    details: detailsOf(code, body['details']),
  })
}

function codeOf(code: string): ErrorCode {
  return isServerCode(code) ? code : 'UNKNOWN_ERROR'
}

/** With the code, where it is one that only a newer server knows. */
function detailsOf(code: string, said: unknown): QuorumscanError['details'] {
  const details = toCamel(said ?? null) as QuorumscanError['details']
  return isServerCode(code) ? details : { ...details, code }
}

function isServerCode(code: string): code is ServerErrorCode {
  return (serverErrorCodes as readonly string[]).includes(code)
}

/** A success that is none of the operation's. */
export function unreadable(request: HttpRequest, status: number): QuorumscanError {
  return failure(
    'INVALID_RESPONSE',
    `The answer to ${nameOf(request)} is not what this version of the SDK understands.`,
    { definite: isSafe(request), status },
  )
}

/** @returns undefined for what is no JSON, a truncated body for one. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // The caller says what that means.
  }
}
