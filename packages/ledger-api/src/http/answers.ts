/** Answers and errors of the ledger interface: the ten members, or text where nothing was decoded. */
import {
  LedgerDecodeError,
  LedgerError,
  type ScanError,
  toLedgerErrorBody,
} from '@quorumscan/errors'
import type { Refusal } from '@quorumscan/server'
import { toScanError } from '@quorumscan/server'

export const JSON_TYPE = 'application/json'
export const TEXT_TYPE = 'text/plain; charset=utf-8'

/** What is sent for an error, by HTTP or as a frame. */
export type LedgerFailure = Refusal

/** Errors of the rest of the process that mean a fault of the request as such: one line of text. */
const TEXT_STATUS: Readonly<Record<string, number>> = {
  MALFORMED_BODY: 400,
  MALFORMED_REQUEST: 400,
  INVALID_ARGUMENT: 400,
  UNSUPPORTED_MEDIA_TYPE: 400,
  HEADERS_TOO_LARGE: 431,
  BODY_TOO_LARGE: 413,
  REQUEST_TIMEOUT: 408,
}
/** Errors of the rest of the process that another try may cure. */
const TRANSIENT = new Set([
  'NOT_READY',
  'DEPENDENCY_UNAVAILABLE',
  'OVERLOADED',
  'LOG_REGRESSED',
  'SOFTWARE_OUTDATED',
  'LOG_FULL',
  'USERS_LOST',
  'SUBMISSION_EXPIRED',
  'CLOCK_OFF',
])

/** Whatever was thrown, as the interface says it. */
export function toLedgerFailure(
  thrown: unknown,
  request: { readonly traceId: string; readonly participant: string },
): LedgerFailure {
  if (thrown instanceof LedgerDecodeError) return textFailure(400, thrown.message)
  if (thrown instanceof LedgerError) return ledgerFailure(thrown, request)
  const error = toScanError(thrown)
  const status = TEXT_STATUS[error.code]
  if (status !== undefined)
    return {
      ...textFailure(status, error.message),
      // The rest of the request is not waited for.
      headers: error.code === 'REQUEST_TIMEOUT' ? { connection: 'close' } : {},
    }
  const failure = ledgerFailure(toLedgerError(error), request)
  if (error.retryAfterSeconds === null) return failure
  return { ...failure, headers: { 'retry-after': String(error.retryAfterSeconds) } }
}

/** 503 of the HTTP server itself, where an operation takes longer than it may (§L3.2). */
export function timeoutFailure(): LedgerFailure {
  return textFailure(503, 'The server was not able to answer in time. Please try again.')
}

function textFailure(status: number, message: string): LedgerFailure {
  const line = message.replace(/\s+/g, ' ')
  return { status, type: TEXT_TYPE, body: line, headers: {} }
}

function toLedgerError(error: ScanError): LedgerError {
  const cause = error.cause ?? error
  if (error.code === 'RATE_LIMITED') return new LedgerError('RATE_LIMITED', error.message)
  if (error.code === 'UNAUTHENTICATED')
    return new LedgerError('UNAUTHENTICATED', error.message, { cause })
  if (error.code === 'PERMISSION_DENIED')
    return new LedgerError('PERMISSION_DENIED', error.message, { cause })
  if (TRANSIENT.has(error.code))
    return new LedgerError('SERVICE_NOT_RUNNING', error.message, { cause })
  return new LedgerError('LEDGER_API_INTERNAL_ERROR', error.message, { cause })
}

function ledgerFailure(
  error: LedgerError,
  request: { readonly traceId: string; readonly participant: string },
): LedgerFailure {
  return {
    status: error.spec.httpStatus,
    type: JSON_TYPE,
    body: JSON.stringify(toLedgerErrorBody(error, request)),
    headers: {},
  }
}
