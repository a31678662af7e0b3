/**
 * Exchanges with an HTTP server that a client begins and never finishes. A server must close each of them by itself. The
 * client never closes its side, and does not read where it says so.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type HalfFinished = {
  readonly name: string
  /** Whether the target must have a WebSocket. */
  readonly needsSocket?: true
  /** Whether it is sent before TLS, also where the target speaks it. */
  readonly isPlain?: true
  /** Sends what the exchange consists of; the socket is connected. */
  begin(socket: Socket, target: HalfFinishedTarget): void
}

export type HalfFinishedTarget = {
  readonly port: number
  /** Default: 127.0.0.1. */
  readonly address?: string
  /** A path that answers GET, and one that takes a body. */
  readonly getPath: string
  readonly postPath: string
  readonly socketPath?: string
  /** The `Host` header. Default: `a`. */
  readonly host?: string
  /** Wraps the connection, for TLS. Default: as it is. */
  readonly secure?: (socket: Socket) => Socket
}

const DRIP_MS = 300

const headOf = (
  { host = 'a' }: HalfFinishedTarget,
  method: string,
  path: string,
  ...headers: readonly string[]
) => [`${method} ${path} HTTP/1.1`, `host: ${host}`, ...headers, '', ''].join('\r\n')

const upgradeHead = (target: HalfFinishedTarget) =>
  headOf(
    target,
    'GET',
    target.socketPath ?? target.getPath,
    'connection: upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
  )
const postHead = (target: HalfFinishedTarget, ...headers: readonly string[]) =>
  headOf(target, 'POST', target.postPath, 'content-type: application/json', ...headers)

export const HALF_FINISHED: readonly HalfFinished[] = [
  { name: 'nothing', begin: () => {} },
  {
    name: 'an offer that is not taken',
    begin: (socket, target) =>
      socket.write(headOf(target, 'GET', target.getPath, 'connection: upgrade', 'upgrade: h2c')),
  },
  {
    name: 'an offer with a body that does not come',
    begin: (socket, target) =>
      socket.write(postHead(target, 'connection: upgrade', 'upgrade: h2c', 'content-length: 9')),
  },
  {
    name: 'an expectation without a body',
    begin: (socket, target) =>
      socket.write(postHead(target, 'expect: 100-continue', 'content-length: 9')),
  },
  {
    name: 'a handshake without an end',
    begin: (socket, target) => socket.write(upgradeHead(target).slice(0, -2)),
  },
  { name: 'half a request line', begin: (socket) => socket.write('GET /li') },
  {
    name: 'a head without a body',
    begin: (socket, target) => socket.write(postHead(target, 'content-length: 9')),
  },
  {
    name: 'a body that stops',
    begin: (socket, target) => socket.write(`${postHead(target, 'content-length: 900')}{"a":`),
  },
  {
    name: 'a body that drips',
    begin(socket, target) {
      socket.write(postHead(target, 'transfer-encoding: chunked'))
      const timer = setInterval(() => socket.write('1\r\n \r\n'), DRIP_MS)
      socket.once('close', () => clearInterval(timer))
    },
  },
  {
    name: 'requests in a pipeline, without reading',
    begin(socket, target) {
      socket.pause()
      socket.write(headOf(target, 'GET', target.getPath).repeat(8))
    },
  },
  {
    name: 'more requests in a pipeline than a server accepts',
    begin: (socket, target) => socket.write(headOf(target, 'GET', target.getPath).repeat(80)),
  },
  {
    name: 'half-close after the head',
    begin: (socket, target) => socket.end(postHead(target, 'content-length: 9')),
  },
  {
    name: 'TLS that is begun',
    begin: (socket) => socket.write(Buffer.from('16030100f8010000f40303', 'hex')),
  },
  {
    name: 'a tunnel',
    begin: (socket, target) => socket.write(headOf(target, 'CONNECT', 'a:1')),
  },
  {
    name: 'a WebSocket without a frame',
    needsSocket: true,
    begin: (socket, target) => socket.write(upgradeHead(target)),
  },
  {
    name: 'a WebSocket frame that never ends',
    needsSocket: true,
    begin(socket, target) {
      socket.write(upgradeHead(target))
      // A text of 1000 bytes, of which two come.
      socket.write(Buffer.from([0x81, 0xfe, 0x03, 0xe8, 0, 0, 0, 0, 0x7b, 0x20]))
    },
  },
]

/** Variants of these kinds, which a server that knows only those of the list could let pass. */
export const HALF_FINISHED_VARIANTS: readonly HalfFinished[] = [
  {
    name: 'an offer among other options, in another case',
    begin: (socket, target) =>
      socket.write(
        headOf(
          target,
          'GET',
          target.getPath,
          'CONNECTION: keep-alive, upGRADE',
          'UPGRADE: X, WebSocket',
        ),
      ),
  },
  {
    name: 'HTTP/1.0 that asks to be kept',
    begin: (socket, target) =>
      socket.write(
        headOf(target, 'GET', target.getPath, 'connection: keep-alive').replace(
          'HTTP/1.1',
          'HTTP/1.0',
        ),
      ),
  },
  {
    name: 'an unknown expectation without a body',
    begin: (socket, target) =>
      socket.write(postHead(target, 'expect: 200-maybe', 'content-length: 9')),
  },
  {
    name: 'a request and half of the next one',
    begin: (socket, target) => {
      const head = headOf(target, 'GET', target.getPath)
      socket.write(head + head.slice(0, -3))
    },
  },
  {
    name: 'half a ClientHello',
    isPlain: true,
    // A record of 252 bytes, of which 24 come.
    begin: (socket) => socket.write(Buffer.from(`16030100fc010000f80303${'ab'.repeat(13)}`, 'hex')),
  },
  {
    name: 'trailers without an end',
    begin: (socket, target) =>
      socket.write(`${postHead(target, 'transfer-encoding: chunked')}2\r\n{}\r\n0\r\nx: y\r\n`),
  },
  {
    name: 'a chunk extension without an end',
    begin: (socket, target) =>
      socket.write(`${postHead(target, 'transfer-encoding: chunked')}2;a=${'b'.repeat(100)}`),
  },
  {
    name: 'half-close after an offer',
    begin: (socket, target) =>
      socket.end(headOf(target, 'GET', target.getPath, 'connection: upgrade', 'upgrade: h2c')),
  },
  {
    name: 'half-close after a handshake',
    needsSocket: true,
    begin: (socket, target) => socket.end(upgradeHead(target)),
  },
  {
    name: 'a WebSocket message without its last fragment',
    needsSocket: true,
    begin(socket, target) {
      socket.write(upgradeHead(target))
      socket.write(Buffer.from([0x01, 0x82, 0, 0, 0, 0, 0x7b, 0x20]))
    },
  },
  {
    name: 'a WebSocket that is not read',
    needsSocket: true,
    begin(socket, target) {
      socket.pause()
      socket.write(upgradeHead(target))
      socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]))
    },
  },
]

export type HeldExchanges = Disposable & {
  openCount(): number
  /** The local ends, as `address:port`. */
  readonly ends: ReadonlySet<string>
}

/** Connections of one address: fewer than a server accepts, so that none is closed for another one. */
const PER_ADDRESS = 400

/** Begins this number of each kind. The client keeps its side of all of them open. Each kind has addresses of its own. */
export async function beginHalfFinished(
  target: HalfFinishedTarget,
  count: number,
  among: readonly HalfFinished[] = HALF_FINISHED,
): Promise<HeldExchanges> {
  const sockets: Socket[] = []
  const ends = new Set<string>()
  const kinds = among.filter(
    ({ needsSocket }) => needsSocket !== true || target.socketPath !== undefined,
  )
  for (const [place, kind] of kinds.entries()) {
    const opened = Array.from({ length: count }, async (_, index) => {
      const localAddress = `127.0.${place + 1}.${1 + Math.floor(index / PER_ADDRESS)}`
      const address = { host: target.address ?? '127.0.0.1', port: target.port, localAddress }
      const plain = connect({ ...address, allowHalfOpen: true })
      plain.on('error', () => {}) // A reset is one way to be closed.
      sockets.push(plain)
      await once(plain, 'connect').catch(() => {})
      ends.add(`${plain.localAddress}:${plain.localPort}`)
      const secure = kind.isPlain ? undefined : target.secure
      const socket = secure?.(plain) ?? plain
      socket.on('error', () => {})
      socket.resume()
      kind.begin(socket, target)
    })
    await Promise.all(opened)
  }
  return {
    ends,
    openCount: () => sockets.filter(({ closed }) => !closed).length,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
