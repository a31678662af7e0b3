/** What an HTTP reply that is no answer means: D-6, the ledger interface's errors, and what others say. */
import { failure, QuorumscanError } from '../errors.ts'
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
  const facts = errorBody(reply.text, status)
  const retryAfterMs = retryAfter(reply.header('retry-after'))
  if (facts === null) {
    // Whoever stands before the server says so without our body, or with none at all.
    const isRefusal = status === 429 || (status >= 400 && status < 500 && status !== 408)
    // The ledger interface says in one line of text what it could not read.
    const line = status === 400 && reply.text.length < 500 ? reply.text.trim() : ''
    const isUnread = request.path.startsWith('/v2/') && line !== '' && !line.startsWith('<')
    return failure(
      isUnread ? 'INVALID_ARGUMENT' : 'INVALID_RESPONSE',
      `${nameOf(request)} was answered with status ${status} and ${line === '' ? 'no reason' : `"${line}"`}.`,
      {
        definite: isSafe(request) || isRefusal,
        retryable: status === 429 || status >= 500,
        status,
        requestId: reply.header('x-request-id'),
        retryAfterMs,
      },
    )
  }
  return new QuorumscanError(facts.error, {
    ...saidBy(facts),
    status,
    definite: facts.definite || isSafe(request),
    retryAfterMs,
  })
}

/** What the ledger interface says at the end of a stream; null: it is no error of it. */
export function ledgerErrorOf(text: string): QuorumscanError | null {
  // No status came: it is one that says nothing more than the body.
  const facts = errorBody(text, 400)
  if (facts === null) return null
  return new QuorumscanError(facts.error, { ...saidBy(facts), definite: true })
}

/** What a body says of a failure, in the words of the SDK. */
function saidBy({ code, retryable, request_id: requestId, details }: ErrorBody) {
  const said = { retryable, requestId, details: toCamel(details) }
  return isServerCode(code)
    ? { ...said, code }
    : ({ ...said, code: 'UNKNOWN_ERROR', details: { ...said.details, code } } as const)
}

function isServerCode(code: string): code is ServerErrorCode {
  return (serverErrorCodes as readonly string[]).includes(code)
}

/** A `retry-after` in milliseconds; null unless it is a whole number of seconds. */
export function retryAfter(text: string | null): number | null {
  return text !== null && /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : null
}

/** docs/upstream.md §L7.1. */
type LedgerError = {
  readonly cause: string
  readonly correlationId: string | null
  readonly traceId: string | null
  readonly context: Record<string, string>
  readonly retryInfo: string | null
  readonly definiteAnswer: boolean | null
}

type ErrorBody = {
  readonly error: string
  readonly code: string
  readonly definite: boolean
  readonly retryable: boolean
  readonly request_id: string
  readonly details: Record<string, unknown> | null
}

/** D-6, or the ledger interface's, or null. */
function errorBody(text: string, status: number): ErrorBody | null {
  const body = parseJson(text) as Partial<ErrorBody & LedgerError> | null | undefined
  if (typeof body?.code === 'string' && typeof body.cause === 'string')
    return {
      error: body.cause,
      code: body.code,
      // Without an answer of its own: what was refused as a request was not submitted.
      definite: body.definiteAnswer ?? status < 500,
      retryable: typeof body.retryInfo === 'string' || status === 503,
      request_id: body.correlationId ?? body.traceId ?? '',
      details: body.context ?? null,
    }
  const isOne =
    typeof body?.error === 'string' &&
    typeof body.code === 'string' &&
    typeof body.definite === 'boolean' &&
    typeof body.retryable === 'boolean'
  return isOne ? (body as ErrorBody) : null
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
