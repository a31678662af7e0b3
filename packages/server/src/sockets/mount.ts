/**
 * WebSockets of a server, of every interface. This module refuses handshakes, with a status as over HTTP: too many
 * sockets, and refusals of the interface. A handshake on another path is an ordinary request (`upgrades.ts`). `serve.ts`
 * has the life of an open socket.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type Clock, createShares, randomHex, systemRandom } from '@quorumscan/base'
import { repeat } from '@quorumscan/runtime'
import type { FastifyInstance } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Client } from '../client.ts'
import { answerBytes, closeGently } from '../closing.ts'
import { ConnectionLimiter, type ConnectionLimits } from '../connection-limiter.ts'
import type { ErrorResponse } from '../errors.ts'
import { ambiguityOf } from '../framing.ts'
import { REQUEST_ID_BYTES } from '../request-id.ts'
import { ownSockets, type TakeHandshake } from '../upgrades.ts'
import { CLOSE_MS, CLOSED, type OpenStream, serve } from './serve.ts'

/** What differs between the interfaces of a server: admission of clients, and the form of errors. */
export type SocketDialect = {
  /** The second mount point, in addition to the root (D-3). */
  readonly prefix: string
  readonly sockets: readonly {
    readonly path: string
    /** Authenticates and charges the client, before there is a socket. */
    open(
      request: IncomingMessage,
      opening: { readonly requestId: string; readonly client: Client },
    ): OpenedSocket | Promise<OpenedSocket>
  }[]
  /** The caller's own id of the request, for errors and log lines; null: a random one. */
  givenIdOf(headers: IncomingHttpHeaders): string | null
  /** The error if no more sockets may be opened. */
  overloaded(): Error
  /** Any error, instead of an upgrade. */
  refusal(thrown: unknown, requestId: string): ErrorResponse
  /** The last frame that a client receives. */
  lastFrame(thrown: unknown, requestId: string): string
  /** The largest frame of a client. */
  readonly frameBytesMax: number
  /** The sub-protocol; null for none. */
  readonly protocol: string | null
  /** The limits of open sockets, of the addresses that open them. Their owners share them, too. */
  readonly limits: Omit<ConnectionLimits, 'evictsOnlyFromLargerClients'>
}

export type OpenedSocket = {
  /** Who shares the sockets with others: a user, or the network of an address. */
  readonly owner: string
  readonly stream: OpenStream
  /** Receives the bytes of each batch of frames that was made. Default: they cost nothing. */
  readonly onMade?: (bytes: number) => void
}

/** The time between pings. A client that has not answered one before the next is disconnected. */
const PING_MS = 30_000

/** Fragments of one message. Clients send it whole; libraries split it at 64 kB and more. */
const FRAGMENTS_MAX = 64
/** Pieces of one frame on the network: some small ones, all others as large as a segment of a poor link. */
const CHUNKS_FREE = 64
const CHUNK_BYTES_MIN = 256

/** Takes the WebSockets of a server; once for a server. */
export function mountSockets(
  app: FastifyInstance,
  options: {
    readonly dialects: readonly SocketDialect[]
    readonly clock: Clock
  },
): void {
  const { clock } = options
  const { clientOf, failures } = app.stages
  const families = options.dialects.map(createFamily)
  const closing = new AbortController()

  const take = (
    { dialect, limiter, shares, server }: Family,
    found: Socket,
    [request, socket, head]: Handshake,
  ): void => {
    // Destroyed by either side: no answer is possible.
    socket.on('error', () => socket.destroy())
    const requestId =
      dialect.givenIdOf(request.headers) ?? randomHex(systemRandom, REQUEST_ID_BYTES)
    const refuse = (refusal: ErrorResponse) => closeGently(socket, answerBytes(refusal))
    const client = clientOf(request)
    let release = () => {}
    const { method, url } = request
    const noteFailure = (error: unknown) =>
      failures.note(error, { id: requestId, log: app.log, method, url, client })
    const upgrade = async () => {
      if (closing.signal.aborted) throw dialect.overloaded()
      const ambiguity = ambiguityOf(request)
      if (ambiguity !== null) throw ambiguity
      const slot = limiter.acquire(client.address, { evict: () => socket.destroy() })
      if (slot === null) throw dialect.overloaded()
      release = slot.release
      socket.once('close', () => release())
      const { owner, stream, onMade } = await found.open(request, { requestId, client })
      if (socket.destroyed) return
      const giveBack = shares.take(owner, { sockets: 1 })
      if (giveBack === null) throw dialect.overloaded()
      release = () => {
        slot.release()
        giveBack()
      }
      const lastFrame = (error: unknown) => dialect.lastFrame(error, requestId)
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const served = { webSocket, connection: socket, clock }
        void serve(served, { open: stream, onMade, lastFrame, noteFailure })
      })
    }
    upgrade().catch((error: unknown) => {
      release()
      noteFailure(error)
      refuse(dialect.refusal(error, requestId))
    })
  }
  ownSockets(app.server, (path) => {
    for (const family of families) {
      const found = family.socketByPath.get(path)
      if (found !== undefined) return (...handshake) => take(family, found, handshake)
    }
    return null
  })
  const clients = () => families.flatMap(({ server }) => [...server.clients])
  app.addHook('preClose', async () => {
    closing.abort()
    const allGone = new AbortController()
    for (const client of clients()) {
      client.once('close', () => clients().length === 0 && allGone.abort())
      client.close(CLOSED.leaving)
    }
    // Rejects if all sockets closed in time.
    if (clients().length > 0) await clock.delay(CLOSE_MS, allGone.signal).catch(() => {})
    for (const client of clients()) client.terminate()
  })
  const { signal } = closing
  const onError = (error: unknown) => app.log.error({ err: error }, 'pinging WebSockets failed')
  repeat(createPing(clients), { clock, everyMs: PING_MS, waitsFirst: true, signal, onError })
}

type Family = ReturnType<typeof createFamily>
type Socket = SocketDialect['sockets'][number]
type Handshake = Parameters<TakeHandshake>

function createFamily(dialect: SocketDialect) {
  const { protocol, prefix, sockets } = dialect
  return {
    dialect,
    socketByPath: new Map(
      ['', prefix].flatMap((mount) => sockets.map((socket) => [mount + socket.path, socket])),
    ),
    server: new WebSocketServer({
      noServer: true,
      clientTracking: true,
      maxPayload: dialect.frameBytesMax,
      // The sender decides the number of pieces of a frame; usually a few.
      maxFragments: FRAGMENTS_MAX,
      maxBufferedChunks: CHUNKS_FREE + dialect.frameBytesMax / CHUNK_BYTES_MIN,
      // Compression needs hundreds of kB a connection, and much processor time.
      perMessageDeflate: false,
      // Other protocols that the client named, such as a token, are never echoed.
      handleProtocols: () => protocol ?? false,
    }),
    limiter: new ConnectionLimiter({ ...dialect.limits, evictsOnlyFromLargerClients: true }),
    shares: createShares(dialect.limits.pool, { sockets: dialect.limits.max }),
  }
}

/** Ends connections whose client left without closing them: it has not answered the previous ping. */
function createPing(clients: () => readonly WebSocket[]): () => void {
  const waiting = new WeakSet<WebSocket>()
  return () => {
    for (const client of clients()) {
      // A full connection would not transmit a ping; `serve` watches it.
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
