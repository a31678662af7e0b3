/** Answers and errors of the ledger interface: the ten members, or text where nothing was decoded. */
import type { IncomingMessage } from 'node:http'
import {
  LedgerDecodeError,
  LedgerError,
  type ScanError,
  toLedgerErrorBody,
} from '@quorumscan/errors'
import { type ErrorResponse, TOOK_TOO_LONG, toScanError } from '@quorumscan/server'

export const JSON_TYPE = 'application/json'
export const BYTES_TYPE = 'application/octet-stream'
export const TEXT_TYPE = 'text/plain; charset=utf-8'

/** Errors of the rest of the process that mean a fault of the request as such: one line of text. */
const TEXT_STATUS: Readonly<Record<string, number>> = {
  MALFORMED_BODY: 400,
  MALFORMED_REQUEST: 400,
  INVALID_ARGUMENT: 400,
  UNSUPPORTED_MEDIA_TYPE: 400,
  HEADERS_TOO_LARGE: 431,
  METHOD_NOT_ALLOWED: 405,
  METHOD_NOT_IMPLEMENTED: 501,
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

/** Any error, in the form of the interface. */
export function toLedgerRefusal(
  thrown: unknown,
  request: { readonly traceId: string; readonly participant: string },
): ErrorResponse {
  if (thrown instanceof LedgerDecodeError) return textErrorResponse(400, thrown.message)
  if (thrown instanceof LedgerError) return jsonRefusal(thrown, request)
  // 503 of the HTTP server itself (§L3.2).
  if (thrown === TOOK_TOO_LONG)
    return textErrorResponse(503, 'The server was not able to answer in time. Please try again.')
  const error = toScanError(thrown)
  const status = TEXT_STATUS[error.code]
  // After a timeout, the rest of the request is not waited for.
  const ending = error.code === 'REQUEST_TIMEOUT' ? { connection: 'close' } : {}
  if (status !== undefined) return textErrorResponse(status, error.message, ending)
  const { retryAfterSeconds: seconds } = error
  const waiting = seconds === null ? {} : { 'retry-after': String(seconds) }
  return jsonRefusal(toLedgerError(error), request, waiting)
}

/** 404. */
export function pathNotFound({ method, url }: Pick<IncomingMessage, 'method' | 'url'>) {
  const errors = [`HttpMethod(${method}), uri: ${url}`]
  const body = JSON.stringify({ errors, status: 404, ledgerApiError: null })
  return { status: 404, headers: { 'content-type': JSON_TYPE }, body }
}

function textErrorResponse(status: number, message: string, headers = {}): ErrorResponse {
  const body = message.replace(/\s+/g, ' ')
  return { status, headers: { 'content-type': TEXT_TYPE, ...headers }, body }
}

function toLedgerError(error: ScanError): LedgerError {
  const { code, message, cause = error } = error
  if (code === 'RATE_LIMITED') return new LedgerError(code, message)
  if (code === 'UNAUTHENTICATED' || code === 'PERMISSION_DENIED')
    return new LedgerError(code, message, { cause })
  const kind = TRANSIENT.has(code) ? 'SERVICE_NOT_RUNNING' : 'LEDGER_API_INTERNAL_ERROR'
  return new LedgerError(kind, message, { cause })
}

function jsonRefusal(
  error: LedgerError,
  request: { readonly traceId: string; readonly participant: string },
  headers = {},
): ErrorResponse {
  return {
    status: error.spec.httpStatus,
    headers: { 'content-type': JSON_TYPE, ...headers },
    body: JSON.stringify(toLedgerErrorBody(error, request)),
  }
}
