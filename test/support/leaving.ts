/** Clients that leave a server at every moment of an exchange. A server must hold nothing for them afterwards. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** An exchange, as bytes: the head with its empty line, and the body. */
export type Exchange = {
  readonly url: string
  readonly head: Buffer
  readonly body: Buffer
  /** The answer begins only after a while, or never. */
  readonly isWaiting?: true
}

/** How a client leaves. The socket is connected. Resolves when the client has left. */
type Leave = (socket: Socket, exchange: Exchange) => Promise<void> | void

const half = (bytes: Buffer) => bytes.subarray(0, Math.ceil(bytes.byteLength / 2))
const all = ({ head, body }: Exchange) => Buffer.concat([head, body])
const written = (socket: Socket, bytes: Buffer) =>
  new Promise<void>((resolve) => socket.write(bytes, () => resolve()))
/** The first bytes of the answer; also resolves at its end. */
const answered = (socket: Socket) =>
  new Promise<void>((resolve) => {
    socket.once('data', () => resolve()).once('close', () => resolve())
  })

export const LEAVES: Readonly<Record<string, Leave>> = {
  'before the head': async (socket, { head }) => {
    await written(socket, half(head))
    socket.destroy()
  },
  'in the body': async (socket, { head, body }) => {
    await written(socket, Buffer.concat([head, half(body)]))
    socket.destroy()
  },
  'before the answer': async (socket, exchange) => {
    await written(socket, all(exchange))
    socket.destroy()
  },
  'in the answer': async (socket, exchange) => {
    await written(socket, all(exchange))
    // A client that would wait leaves while it waits.
    if (exchange.isWaiting !== true) await answered(socket)
    socket.destroy()
  },
  'half-closed': async (socket, exchange) => {
    socket.end(all(exchange))
    if (exchange.isWaiting !== true) await answered(socket)
    socket.destroy()
  },
  killed: async (socket, exchange) => {
    await written(socket, all(exchange))
    socket.resetAndDestroy()
  },
}

/** Connects, does so much of the exchange, and leaves. */
export async function leave(exchange: Exchange, how: Leave): Promise<void> {
  const { hostname, port } = new URL(exchange.url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {}) // A reset is one way to be closed.
  const closed = once(socket, 'close').catch(() => {})
  await once(socket, 'connect')
  await how(socket, exchange)
  socket.destroy()
  await closed
}

/** The exchange of a request. */
export function exchangeOf(
  request: {
    readonly url: string
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string | Uint8Array | null
  },
  more: { readonly isWaiting?: true } = {},
): Exchange {
  const { host, pathname, search } = new URL(request.url)
  const body = Buffer.from(request.body ?? '')
  const headers = Object.entries({ host, ...request.headers })
  if (request.body !== null) headers.push(['content-length', `${body.byteLength}`])
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  const head = [`${request.method} ${pathname}${search} HTTP/1.1`, ...lines, '', ''].join('\r\n')
  return { url: request.url, head: Buffer.from(head), body, ...more }
}

/** The exchange that opens a WebSocket and sends one text frame, masked with zeros. */
export function socketExchangeOf(
  url: string,
  { token, frame }: { readonly token: string; readonly frame: object },
): Exchange {
  const headers = {
    authorization: `Bearer ${token}`,
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const text = Buffer.from(JSON.stringify(frame))
  const length = Buffer.from([0x81, 0xfe, text.byteLength >> 8, text.byteLength & 0xff])
  const { head } = exchangeOf({ url, method: 'GET', headers, body: null })
  return { url, head, body: Buffer.concat([length, Buffer.alloc(4), text]) }
}
