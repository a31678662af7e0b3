/** Converts what was thrown to an error of the catalogue, and to its form on the wire (D-6). */

import { ScanError, toErrorBody } from '@quorumscan/errors'
import { memberOf } from '@quorumscan/verifier'

/** An answer with an error. */
export type ErrorResponse = {
  readonly status: number
  /** The headers, with `content-type`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Code and message of a refusal. */
export type Reason = Readonly<ConstructorParameters<typeof ScanError>>

export const TOO_LATE: Reason = ['REQUEST_TIMEOUT', 'the request did not arrive completely in time']
export const TOO_LARGE: Reason = ['BODY_TOO_LARGE', 'the body exceeds the limit of the operation']

/** Shared: its stack trace adds nothing. */
export const UNKNOWN_METHOD = new ScanError(
  'METHOD_NOT_IMPLEMENTED',
  'no operation of any server of this product has this method',
)

export const NO_HTTP: Reason = ['MALFORMED_REQUEST', 'this is not an HTTP request']

/** What Node and Fastify refuse before a handler runs, by their codes. */
export const reasonByCode: Readonly<Record<string, Reason>> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'the URL and the headers exceed the limit'],
  ERR_HTTP_REQUEST_TIMEOUT: TOO_LATE,
  FST_ERR_BAD_URL: ['MALFORMED_REQUEST', 'the path is not percent-encoded UTF-8'],
  FST_ERR_MAX_PARAM_LENGTH: ['HEADERS_TOO_LARGE', 'the URL is too long'],
  FST_ERR_CTP_BODY_TOO_LARGE: TOO_LARGE,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['MALFORMED_BODY', 'the body and its content-length differ'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'the content type is unknown'],
}

/** An error that is not of the catalogue is a defect of this process. The client does not receive its text. */
export function toScanError(cause: unknown): ScanError {
  if (cause instanceof ScanError) return cause
  const code = String(memberOf(cause, 'code'))
  const known = reasonByCode[code]
  if (known !== undefined) return new ScanError(...known)
  // The client left while it was sending: it does not read this answer.
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE')
    return new ScanError('MALFORMED_BODY', 'the body ended early', { cause })
  return new ScanError('INTERNAL', 'the process has a defect; its log has the reason', { cause })
}

export function toErrorResponse(thrown: unknown, requestId: string): ErrorResponse {
  const error = toScanError(thrown)
  const headers: Record<string, string> = { 'content-type': JSON_TYPE, 'cache-control': 'no-store' }
  const retryAfter = error.retryAfterSeconds ?? (error.code === 'OVERLOADED' ? 1 : null)
  if (retryAfter !== null) headers['retry-after'] = String(retryAfter)
  // The rest of the request is not waited for.
  if (error.code === 'REQUEST_TIMEOUT') headers['connection'] = 'close'
  if (error.code === 'UNAUTHENTICATED') headers['www-authenticate'] = 'Bearer'
  const body = JSON.stringify(toErrorBody(error, requestId))
  return { status: error.spec.httpStatus, headers, body }
}
