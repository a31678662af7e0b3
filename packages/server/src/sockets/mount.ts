/**
 * WebSockets of a server, whatever interface they belong to. What ends a connection before there is a socket
 * is here, by a status as over HTTP: 404, too many sockets, and whoever the interface does not let in. What
 * ends it afterwards is in `serve.ts`.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '@quorumscan/base'
import type { FastifyInstance } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import { closeGently } from '../closing.ts'
import { Places } from '../places.ts'
import type { Refusal, SocketDialect } from './dialect.ts'
import { CLOSE_MS, CLOSED, serve } from './serve.ts'

/** Between pings; a client that has not answered one by the next is gone. */
const PING_MS = 30_000

/** Of one message. Clients send it whole; libraries cut it at 64 kB and more. */
const FRAGMENTS_MAX = 64
/** What the network makes of one frame: some small pieces, all others of a segment of a poor link. */
const CHUNKS_FREE = 64
const CHUNK_BYTES_MIN = 256

type SocketsMount = {
  /** The first that owns a path answers for it; the last one for what nobody owns. */
  readonly dialects: readonly [...SocketDialect[], SocketDialect]
  readonly clock: Clock
}

/** Takes upgrades of the server's connections; once for a server. */
export function mountSockets(app: FastifyInstance, mount: SocketsMount): void {
  const { clock } = mount
  const families = mount.dialects.map(createFamily)
  const last = families.at(-1) as Family // There is one.
  const closing = new AbortController()

  app.server.on('upgrade', (request, socket, head) => {
    // Destroyed by either side: there is nobody to tell.
    socket.on('error', () => socket.destroy())
    const path = pathOf(request)
    const family = families.find(({ dialect }) => dialect.owns(path)) ?? last
    const { dialect } = family
    const admit = dialect.find(path)
    if (admit === null) return refuse(socket, dialect.notFound(request))
    const requestId = dialect.requestIdOf(request)
    const client = app.clientOf(request)
    let release = () => {}
    const noteFailure = (error: unknown) =>
      app.failures.note(error, {
        ...{ log: app.log, method: request.method, url: request.url, client },
        request_id: requestId,
      })
    const upgrade = async () => {
      if (closing.signal.aborted) throw dialect.overloaded()
      const place = family.places.take(client.address, {
        isIdle: () => true,
        leave: () => socket.destroy(),
      })
      if (place === null) throw dialect.overloaded()
      release = place.release
      socket.once('close', release)
      const session = await admit(request, requestId)
      if (socket.destroyed) return
      family.server.handleUpgrade(request, socket, head, (webSocket) => {
        void serve(webSocket, { session, dialect, connection: socket, clock, noteFailure })
      })
    }
    upgrade().catch((error: unknown) => {
      release()
      noteFailure(error)
      refuse(socket, dialect.refusal(error, requestId))
    })
  })
  const clients = () => families.flatMap(({ server }) => [...server.clients])
  app.addHook('preClose', async () => {
    closing.abort()
    const allGone = new AbortController()
    for (const client of clients()) {
      client.once('close', () => clients().length === 0 && allGone.abort())
      client.close(CLOSED.leaving)
    }
    // Rejects when all have gone in time.
    if (clients().length > 0) await clock.delay(CLOSE_MS, allGone.signal).catch(() => {})
    for (const client of clients()) client.terminate()
  })
  void keepAlive(clients, clock, closing.signal)
}

type Family = {
  readonly dialect: SocketDialect
  readonly server: WebSocketServer
  readonly places: Places
}

function createFamily(dialect: SocketDialect): Family {
  const { protocol } = dialect
  return {
    dialect,
    server: new WebSocketServer({
      noServer: true,
      clientTracking: true,
      maxPayload: dialect.frameBytesMax,
      // A frame comes in pieces at the liking of its sender; whole it is a few.
      maxFragments: FRAGMENTS_MAX,
      maxBufferedChunks: CHUNKS_FREE + dialect.frameBytesMax / CHUNK_BYTES_MIN,
      // Compressing needs hundreds of kB a connection, and its time is everybody's.
      perMessageDeflate: false,
      // Whatever else the client named, such as a token, is never echoed.
      handleProtocols: () => protocol ?? false,
    }),
    places: new Places({
      max: dialect.socketsMax,
      perClientMax: dialect.socketsPerClientMax,
      perNetworkMax: dialect.socketsPerNetworkMax,
      areInUse: true,
    }),
  }
}

/** `//v2/...` is what existing clients ask for (D-3). */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0]?.replace(/\/{2,}/g, '/') ?? ''
}

function refuse(socket: Duplex, { status, type, headers, body }: Refusal): void {
  const lines = Object.entries({
    'content-type': type,
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  closeGently(socket, `HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${body}`)
}

/** Ends connections whose other side is gone without a word. */
async function keepAlive(
  clients: () => readonly WebSocket[],
  clock: Clock,
  closing: AbortSignal,
): Promise<void> {
  const waiting = new WeakSet<WebSocket>()
  while (!closing.aborted) {
    // Aborted: the loop ends.
    await clock.delay(PING_MS, closing).catch(() => {})
    if (closing.aborted) return
    for (const client of clients()) {
      // What is full is watched by `serve`, and would not hear a ping.
      if (client.bufferedAmount > 0) continue
      if (waiting.has(client)) client.terminate()
      else {
        waiting.add(client)
        client.once('pong', () => waiting.delete(client))
        client.ping()
      }
    }
  }
}
