/** Raw connections of a client to a server on this machine, for bytes that no HTTP client sends. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** @param ca - The certificate of the authority, PEM; null: the server speaks no TLS. */
export function createRawClient(port: number, ca: Uint8Array | null = null) {
  // A reset is one way to be closed: 'close' follows.
  const ignoreErrors = <One extends Socket>(socket: One): One => socket.on('error', () => {}) as One
  const sockets: Socket[] = []
  const begin = (): Socket => {
    const socket = ignoreErrors(connect(port, '127.0.0.1'))
    sockets.push(socket)
    return socket
  }
  /** Begins a handshake on a connection. */
  const secure = (socket: Socket): TLSSocket =>
    ignoreErrors(connectTls({ socket, ca: Buffer.from(ca ?? []), host: 'localhost' }))
  const openSecure = async (): Promise<TLSSocket> => {
    const socket = secure(begin())
    await once(socket, 'secureConnect')
    return socket
  }
  return {
    /** Without TLS, also where the server speaks it. */
    begin,
    secure,
    /** Resolves after the handshake. */
    openSecure,
    /** Resolves when the connection can be used. */
    async open(): Promise<Socket> {
      if (ca !== null) return openSecure()
      const socket = begin()
      await once(socket, 'connect')
      return socket
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** All that the server sends until it closes. */
export async function textUntilClosed(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (data) => {
    text += String(data)
  })
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  return text
}
