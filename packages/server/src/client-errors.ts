/** What Node's parser refuses: there is no request yet, only a socket, but the body is that of D-6. */
import type { Socket } from 'node:net'
import { ScanError, toErrorBody } from '@quorumscan/errors'
import { closeGently } from './closing.ts'

const errorByCode: Readonly<Record<string, () => ScanError>> = {
  HPE_HEADER_OVERFLOW: () =>
    new ScanError('HEADERS_TOO_LARGE', 'the URL and the headers exceed the limit'),
  ERR_HTTP_REQUEST_TIMEOUT: () =>
    new ScanError('REQUEST_TIMEOUT', 'the request did not arrive completely in time'),
}

export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  // Nobody is left to answer, or an answer is on its way already.
  if (
    error.code === 'ECONNRESET' ||
    socket.destroyed ||
    !socket.writable ||
    socket.bytesWritten > 0
  )
    return void socket.destroy()
  const refusal =
    errorByCode[error.code ?? '']?.() ??
    new ScanError('MALFORMED_REQUEST', 'this is not an HTTP request')
  const body = JSON.stringify(toErrorBody(refusal, ''))
  const answer =
    `HTTP/1.1 ${refusal.spec.httpStatus} ${refusal.code}\r\n` +
    'content-type: application/json; charset=utf-8\r\n' +
    'access-control-allow-origin: *\r\n' +
    `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
  // Who is late already is not waited for.
  if (refusal.code === 'REQUEST_TIMEOUT') socket.end(answer, () => socket.destroy())
  else closeGently(socket, answer)
}
