/**
 * Closes a connection whose client may still send, so that the client can read the last answer. A socket that is closed
 * with unread bytes resets the connection, and the client gets an error of its own system instead.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterDelay, type Clock, held } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { corsHeaders } from './cors.ts'
import { type ErrorResponse, NO_HTTP, reasonByCode, toErrorResponse } from './errors.ts'
import { securityHeaders } from './security-headers.ts'

/** Read and discarded, in less than 20 ms: more than any body that is sent by mistake. */
const DRAINED_BYTES_MAX = 32 * 1024 * 1024
const discarding = new WeakSet<Duplex>()

/**
 * Returns a function that ends connections that have sent nothing, which clients open in advance. A closing server of
 * Node counts their first request as in progress, and waits for it.
 */
export function trackUnused(server: Server): () => void {
  const open = held(
    {
      owner: 'server',
      name: 'connections that may be unused',
      kind: 'work',
      bound: 'the pool of connections',
    },
    new Set<Socket>(),
  )
  let isEnding = false
  const track = (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  }
  server.on('connection', track)
  // With TLS, the connection below has sent its part of a handshake.
  server.on('secureConnection', (socket: Socket) => (isEnding ? socket.destroy() : track(socket)))
  return () => {
    isEnding = true
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
}

/**
 * Ends all connections if requests in progress have not ended in time.
 *
 * @param signal - Aborts when the server has closed.
 */
export function closeWithin(
  server: Server,
  {
    ms,
    clock,
    signal,
  }: { readonly ms: number; readonly clock: Clock; readonly signal: AbortSignal },
): void {
  void afterDelay({ clock, ms, signal }, () => server.closeAllConnections())
}

/** Discards all further input. The HTTP parser, which needs time for each chunk, does not see it. */
export function discardInput(socket: Duplex): void {
  if (discarding.has(socket)) return
  discarding.add(socket)
  socket.removeAllListeners('data')
  let left = DRAINED_BYTES_MAX
  socket.on('data', (bytes: Buffer) => {
    left -= bytes.byteLength
    if (left < 0) socket.destroy()
  })
  // The parser may have stopped reading, of which the socket does not know.
  socket._read(0)
  socket.resume()
}

/** Sends these last bytes, and waits for the other side to close; the listener closes late connections. */
export function closeGently(socket: Duplex, lastBytes = ''): void {
  if (socket.destroyed) return
  socket.removeAllListeners('end')
  let hasOneSideEnded = false
  const onEnd = () => {
    if (hasOneSideEnded) socket.destroy()
    hasOneSideEnded = true
  }
  socket.once('end', onEnd)
  socket.end(lastBytes, onEnd)
  discardInput(socket)
}

/** The bytes of an answer without a request or response of Node, to a socket. */
export function answerBytes({ status, headers, body }: ErrorResponse): string {
  const own = { 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
  const lines = Object.entries({ ...corsHeaders, ...securityHeaders, ...headers, ...own }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return `HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${body}`
}

/** Answers input that Node's parser refuses, before a request exists, with the body of D-6. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  const isAnswered = !socket.writable || socket.bytesWritten > 0
  if (error.code === 'ECONNRESET' || socket.destroyed || isAnswered) return void socket.destroy()
  const reason = reasonByCode[error.code ?? ''] ?? NO_HTTP
  const refusal = new ScanError(...reason)
  const answer = answerBytes(toErrorResponse(refusal, ''))
  // Does not wait for a client that is late already.
  if (refusal.code === 'REQUEST_TIMEOUT') socket.end(answer, () => socket.destroy())
  else closeGently(socket, answer)
}
