/** From whatever was thrown to an error of the catalogue (D-6). */
import { ScanError } from '@quorumscan/errors'

/** What fastify refuses before a handler is asked, by its code. */
const ofFastify: Readonly<Record<string, () => ScanError>> = {
  FST_ERR_BAD_URL: () =>
    new ScanError('MALFORMED_REQUEST', 'the path is not percent-encoded UTF-8'),
  FST_ERR_MAX_PARAM_LENGTH: () => new ScanError('HEADERS_TOO_LARGE', 'the URL is too long'),
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new ScanError('BODY_TOO_LARGE', 'the body exceeds the limit of the operation'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ScanError('MALFORMED_BODY', 'the body is shorter or longer than its content-length'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ScanError('UNSUPPORTED_MEDIA_TYPE', 'the content type of the body is not known'),
}

/** Anything that is no error of the catalogue is a bug of ours, and its text stays in the log. */
export function toScanError(thrown: unknown): ScanError {
  if (thrown instanceof ScanError) return thrown
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  const known = ofFastify[code]
  if (known !== undefined) return known()
  // The client went away while it was sending: nobody reads this answer.
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE')
    return new ScanError('MALFORMED_BODY', 'the body ended early', { cause: thrown })
  return new ScanError('INTERNAL', 'something went wrong on our side; the log has the reason', {
    cause: thrown,
  })
}

/** Headers that belong to an error. */
export function errorHeaders(error: ScanError): Record<string, string> {
  const headers: Record<string, string> = { 'cache-control': 'no-store' }
  const retryAfter = error.retryAfterSeconds ?? (error.code === 'OVERLOADED' ? 1 : null)
  if (retryAfter !== null) headers['retry-after'] = String(retryAfter)
  // The rest of the request is not waited for.
  if (error.code === 'REQUEST_TIMEOUT') headers['connection'] = 'close'
  if (error.code === 'UNAUTHENTICATED') headers['www-authenticate'] = 'Bearer'
  return headers
}
