/** What Node's parser refuses: there is no request yet, only a socket, but the body is that of D-6. */
import type { Socket } from 'node:net'
import { ScanError } from '@quorumscan/errors'
import { answerBytes, closeGently } from './closing.ts'
import { toRefusal } from './errors.ts'

const errorByCode: Readonly<Record<string, () => ScanError>> = {
  HPE_HEADER_OVERFLOW: () =>
    new ScanError('HEADERS_TOO_LARGE', 'the URL and the headers exceed the limit'),
  ERR_HTTP_REQUEST_TIMEOUT: () =>
    new ScanError('REQUEST_TIMEOUT', 'the request did not arrive completely in time'),
}

export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  const isAnswered = !socket.writable || socket.bytesWritten > 0
  if (error.code === 'ECONNRESET' || socket.destroyed || isAnswered) return void socket.destroy()
  const refusal =
    errorByCode[error.code ?? '']?.() ??
    new ScanError('MALFORMED_REQUEST', 'this is not an HTTP request')
  const answer = answerBytes(toRefusal(refusal, ''))
  // A client that is late already is not waited for.
  if (refusal.code === 'REQUEST_TIMEOUT') socket.end(answer, () => socket.destroy())
  else closeGently(socket, answer)
}
