/**
 * Offers of another protocol (`Upgrade`, RFC 9110 §7.8). A server may ignore an offer, and ours do, except for a WebSocket
 * on a path that has one. Node does not ignore an offer if it has a listener for upgrades, and loses what follows the
 * offer if it has none (all versions to 24). So the listener takes every offer, and gives Node the ignored ones again,
 * without the header.
 */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { assert } from '@quorumscan/base'

/** Takes the connection of a handshake. `head`: bytes that the client sent after the request. */
export type TakeHandshake = (request: IncomingMessage, socket: Socket, head: Buffer) => void

/** What takes handshakes of a path, which is without its query; null where no WebSocket has the path. */
export type SocketOwner = (path: string) => TakeHandshake | null

const ownerOf = new WeakMap<Server, SocketOwner>()

/** Passes WebSocket handshakes to this owner; once for a server of `createListener`. */
export function ownSockets(server: Server, owner: SocketOwner): void {
  assert(!ownerOf.has(server), 'the server has an owner of WebSockets')
  ownerOf.set(server, owner)
}

/** What takes the connection of this offer; null: the offer is ignored. */
export function takerOf(server: Server, request: IncomingMessage): TakeHandshake | null {
  const take = isHandshake(request) ? ownerOf.get(server)?.(pathOf(request)) : undefined
  if (take == null) return null
  // The other protocols of the list are ignored.
  request.headers.upgrade = 'websocket'
  return take
}

/** Existing clients request `//v2/...` (D-3). */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0]?.replace(/\/{2,}/g, '/') ?? ''
}

/** RFC 6455 §4.1. A request with a body, or of HTTP/1.0, cannot be one. */
function isHandshake({ method, httpVersion, headers }: IncomingMessage): boolean {
  const offered = (headers.upgrade ?? '').toLowerCase().split(',')
  const hasBody =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0
  const isWebSocket = offered.some((protocol) => protocol.trim() === 'websocket')
  return method === 'GET' && httpVersion === '1.1' && isWebSocket && !hasBody
}

/** The head of the request as bytes, without its offer. It is never longer than the head that was received. */
export function headWithoutOffer({
  method,
  url,
  httpVersion,
  rawHeaders,
}: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() !== 'upgrade')
      lines.push(`${rawHeaders[index]}:${rawHeaders[index + 1]}`)
  // Node decodes heads as latin1.
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
