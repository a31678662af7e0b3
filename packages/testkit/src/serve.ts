/** Servers of tests, on loopback or a socket. Closing one ends its connections. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'

export type TestServer = AsyncDisposable & {
  /** Without a trailing slash. */
  readonly url: string
  readonly port: number
  /** Of all connections since it started. */
  connectionCount(): number
}

type Options = {
  /** A port, by default a free one, or the path of a socket. */
  readonly at?: number | string
  /** Default: loopback. */
  readonly host?: string
}

/** Answers HTTP requests: over TLS if there is a certificate. */
export async function serve(
  answer: RequestListener,
  options: Options & {
    readonly tls?: { readonly key: string | Buffer; readonly cert: string | Buffer }
  } = {},
): Promise<TestServer> {
  const { tls } = options
  return tls === undefined
    ? await open(createServer(answer), 'http', options)
    : await open(createTlsServer(tls, answer), 'https', options)
}

/** Accepts TCP connections. Errors of a connection are ignored: a client may close in any way. */
export async function listen(
  onConnection: (socket: Socket) => void,
  options: Options = {},
): Promise<TestServer> {
  const server = createTcpServer((socket) => onConnection(socket.on('error', () => {})))
  return await open(server, 'tcp', options)
}

async function open(
  server: Server,
  scheme: string,
  { at = 0, host = '127.0.0.1' }: Options,
): Promise<TestServer> {
  const sockets = new Set<Socket>()
  let connectionCount = 0
  server.on('connection', (socket: Socket) => {
    connectionCount += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(typeof at === 'string' ? { path: at } : { port: at, host })
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `${scheme}://${host}:${port}`,
    port,
    connectionCount: () => connectionCount,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
