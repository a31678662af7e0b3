/** From whatever was thrown to an error of the catalogue, and its form on the wire (D-6). */
import { ScanError, toErrorBody } from '@quorumscan/errors'

/** An answer with an error. */
export type Refusal = {
  readonly status: number
  /** With `content-type`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** What fastify refuses before a handler runs, by its code. */
const ofFastify: Readonly<Record<string, ConstructorParameters<typeof ScanError>>> = {
  FST_ERR_BAD_URL: ['MALFORMED_REQUEST', 'the path is not percent-encoded UTF-8'],
  FST_ERR_MAX_PARAM_LENGTH: ['HEADERS_TOO_LARGE', 'the URL is too long'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['BODY_TOO_LARGE', 'the body exceeds the limit of the operation'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'MALFORMED_BODY',
    'the body is shorter or longer than its content-length',
  ],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'the content type of the body is not known',
  ],
}

/** An error that is not of the catalogue is a bug, and its text is only logged. */
export function toScanError(thrown: unknown): ScanError {
  if (thrown instanceof ScanError) return thrown
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  const known = ofFastify[code]
  if (known !== undefined) return new ScanError(...known)
  // The client left while it was sending: it does not read this answer.
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE')
    return new ScanError('MALFORMED_BODY', 'the body ended early', { cause: thrown })
  return new ScanError('INTERNAL', 'something went wrong on our side; the log has the reason', {
    cause: thrown,
  })
}

export function toRefusal(thrown: unknown, requestId: string): Refusal {
  const error = toScanError(thrown)
  const headers: Record<string, string> = {
    'content-type': JSON_TYPE,
    'cache-control': 'no-store',
  }
  const retryAfter = error.retryAfterSeconds ?? (error.code === 'OVERLOADED' ? 1 : null)
  if (retryAfter !== null) headers['retry-after'] = String(retryAfter)
  // The rest of the request is not waited for.
  if (error.code === 'REQUEST_TIMEOUT') headers['connection'] = 'close'
  if (error.code === 'UNAUTHENTICATED') headers['www-authenticate'] = 'Bearer'
  const body = JSON.stringify(toErrorBody(error, requestId))
  return { status: error.spec.httpStatus, headers, body }
}
