/**
 * Node's HTTP server of every process: TLS, timeouts, and connections. The life of a connection:
 *   accepted   gets a slot from `connection-limiter.ts`, or is closed; its address pays for a TLS handshake
 *   requests   reach the listener one at a time; at most eight wait for the one before them
 *   answered   is read again at once, or, while many requests wait, when `load-shedder.ts` resumes it
 *   refused    is not read for a second or more after a 429 or 503, so that clients that do not wait cost little
 *   late       is closed if the client does not read its answer, or does not close its side after the last one
 *   upgraded   belongs to the owner of WebSockets (`upgrades.ts`), after the answers to all requests before
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Server as SecureServer, type TLSSocket } from 'node:tls'
import { type Clock, held } from '@quorumscan/base'
import { repeat, type TlsCertificate } from '@quorumscan/runtime'
import type { Clients } from './client.ts'
import type { ClientAddresses } from './client-address.ts'
import { answerBytes, closeGently, discardInput } from './closing.ts'
import { ConnectionLimiter, type Occupant } from './connection-limiter.ts'
import { toErrorResponse, UNKNOWN_METHOD } from './errors.ts'
import type { HttpLimits } from './limits.ts'
import type { LoadShedder } from './load-shedder.ts'
import { UnreadAnswers } from './unread-answers.ts'
import { headWithoutOffer, takerOf } from './upgrades.ts'

/** How often Node, and this module, look for connections that are late. */
const CHECK_MS = 1000
/** The time for the client to close its side after the last answer: as long as a request may take to arrive. */
const CLOSING_MS_MAX = 10_000
/** Evicted connections whose sockets are not closed yet. */
const EVICTED_MAX = 256
/** Requests that arrive before the one before them is answered. Few clients send any. */
const PIPELINED_MAX = 8
/** The minimum time for which a refused client is not read (`retry-after`). */
const BACK_OFF_MS_MIN = 1000
/** If many clients are refused, they are read again one after the other, this time apart. */
const BACK_OFF_APART_MS = 2
/** The maximum, below the time that a client waits for an answer (D-38: 10 s). */
const BACK_OFF_MS_MAX = 8000
/** A request that arrives so soon after a connection is read again had waited unread. */
const RESUMED_MS_MAX = 100
/** Fewer bytes of an answer do not count as unread. */
const UNREAD_BYTES_MIN = 16 * 1024
/** A longer body is not read to its end to keep the connection. */
const DISCARDED_BYTES_MAX = 1024 * 1024

const SOCKET_STATES = [
  'idle',
  'in a request',
  'upgraded',
  'refused for a while',
  'closing',
] as const
type SocketState = (typeof SOCKET_STATES)[number]

/** As `sizeOf` of `held`. */
const countIn = Object.fromEntries(
  SOCKET_STATES.map((state) => [
    state,
    (open: ReadonlySet<Connection>) => {
      let count = 0
      for (const one of open) if (one.state() === state) count += 1
      return count
    },
  ]),
) as Record<SocketState, (open: ReadonlySet<Connection>) => number>

const connectionOf = new WeakMap<Socket, Connection>()

/** Stops reading the body of a refused request. A body that may be endless is discarded without parsing. */
export function giveUpReading(request: IncomingMessage): void {
  // With a listener, parsed pieces are not queued, which takes twice the time for tiny ones.
  request.on('error', () => {}).on('data', () => {})
  // Node's parser is running.
  if (connectionOf.has(request.socket) && mayBeEndless(request))
    process.nextTick(discardInput, request.socket)
}

/** Does not read the connection for a while after this answer, unless a proxy opened it. */
export function backOffAfter(response: ServerResponse): void {
  connectionOf.get(response.req.socket)?.backOff(response)
}

/**
 * Counts bytes that wait until the client reads, next to the answers of this client, until the returned function is called.
 * The connection is closed if it is the one to go.
 */
export function countUnread(socket: Duplex, bytes: number): () => void {
  return connectionOf.get(socket as Socket)?.countUnread(bytes) ?? (() => {})
}

/** Since when the request that just arrived had waited unread; null if its connection was not parked. */
export function unreadSinceMs(socket: Socket): number | null {
  return connectionOf.get(socket)?.takeUnreadSince() ?? null
}

/** Speaks TLS where there is a certificate. */
export function createListener(
  options: {
    readonly limits: HttpLimits
    readonly clock: Clock
    readonly clientAddresses: ClientAddresses
    readonly clients: Pick<Clients, 'admitHandshake'>
    readonly certificate: TlsCertificate | null
    readonly noteConnection: LoadShedder['noteConnection']
    readonly park: Park
  },
  listener: RequestListener,
): Server {
  const { limits, clock, clientAddresses, certificate } = options
  const limiter = new ConnectionLimiter({
    pool: 'connections',
    max: limits.connectionsMax,
    perClientMax: limits.connectionsPerClientMax,
    perNetworkMax: limits.connectionsPerNetworkMax,
  })
  const unread = new UnreadAnswers({
    pool: 'bytes that clients have not read',
    max: limits.unreadBytesMax,
    perClientMax: limits.unreadBytesPerClientMax,
  })
  const { park } = options
  const nextBackOff = createBackOff(clock)
  const open = held(
    { owner: 'server', name: 'sockets', kind: 'work', bound: limits.connectionsMax },
    new Set<Connection>(),
  )
  for (const state of SOCKET_STATES)
    held(
      { owner: 'server', name: `sockets, ${state}`, kind: 'work', bound: limits.connectionsMax },
      open,
      countIn[state],
    )
  const settings = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.requestMsMax,
    requestTimeout: limits.requestMsMax + limits.bodyMsMax,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: limits.keepAliveMsMax,
  }
  const onRequest: RequestListener = (request, response) => {
    nameMethod(request)
    // Node parses what was received together with a request that ended the connection.
    if (!request.socket.destroyed) connectionOf.get(request.socket)?.receive(request, response)
  }
  const server =
    certificate === null
      ? createServer(settings, onRequest)
      : createSecureServer(
          { ...settings, ...certificate.tlsOptions(), handshakeTimeout: limits.requestMsMax },
          onRequest,
        )
  // An expectation that the server does not know is ignored, as RFC 9110 §10.1.1 allows: Node would answer 417 past us.
  server.on('checkExpectation', onRequest)
  server.timeout = limits.idleConnectionMsMax
  server.maxConnections = limits.connectionsMax + EVICTED_MAX
  const beginHandshake = server instanceof SecureServer ? followHandshakes(server) : null
  // Node's own listener, which gives a connection its HTTP parser.
  const [parse] = server.listeners(beginHandshake === null ? 'connection' : 'secureConnection')
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket
    const isProxy = clientAddresses.isProxy(remoteAddress)
    const shared = { listener, clock, park, unread, nextBackOff: isProxy ? null : nextBackOff }
    const connection = new Connection(socket, shared)
    const isAdmitted = beginHandshake === null || options.clients.admitHandshake(remoteAddress)
    const slot = isAdmitted ? limiter.acquire(remoteAddress, connection, { isProxy }) : null
    if (slot === null) return socket.destroy()
    connection.onUse = slot.touch
    connectionOf.set(socket, connection)
    beginHandshake?.(socket, connection)
    open.add(connection)
    options.noteConnection()
    socket.once('close', () => {
      slot.release()
      open.delete(connection)
    })
  })
  // From here on Node's parser does not read the socket, and Node watches neither its errors nor its end.
  const receiveLast = (request: IncomingMessage, follow: (socket: Socket) => void) => {
    const { socket } = request
    nameMethod(request)
    socket.removeListener('error', ignoreError).on('error', ignoreError)
    connectionOf.get(socket)?.receiveLast(() => follow(socket))
  }
  server.on('upgrade', (request: IncomingMessage, _socket: Socket, head: Buffer) =>
    receiveLast(request, (socket) => {
      const take = takerOf(server, request)
      if (take !== null) {
        connectionOf.get(socket)?.upgrade()
        return take(request, socket, head)
      }
      socket.unshift(Buffer.concat([headWithoutOffer(request), head]))
      parse?.call(server, socket)
    }),
  )
  server.on('connect', (request: IncomingMessage) =>
    receiveLast(request, (socket) =>
      closeGently(socket, answerBytes(toErrorResponse(UNKNOWN_METHOD, ''))),
    ),
  )
  const closed = new AbortController()
  const { signal } = closed
  const closeLate = (): void => {
    for (const one of open) one.closeIfLate(clock.monotonicMs(), limits.answerMsMax)
  }
  // Node's does not know of WebSockets, of handshakes, and of connections in between.
  server.closeAllConnections = () => {
    for (const one of open) one.evict()
  }
  server.once('close', () => closed.abort())
  server.once('listening', () => {
    repeat(closeLate, { clock, everyMs: CHECK_MS, waitsFirst: true, signal })
    if (server instanceof SecureServer) void certificate?.autoReload(server, signal)
  })
  return server
}

/** The parser of Node 20.19 reads QUERY, which Node's list of methods does not have there: the request has no method. */
function nameMethod(request: IncomingMessage): void {
  request.method ??= 'QUERY'
}

/** 'close' follows. */
function ignoreError(): void {}

/** Finds the connection of each socket that speaks TLS: Node does not report which one a TLS socket belongs to. */
function followHandshakes(server: SecureServer) {
  const connectionByAddressPair = held(
    {
      owner: 'server',
      name: 'TLS handshakes and connections',
      kind: 'work',
      bound: 'the pool of connections',
    },
    new Map<string, Connection>(),
  )
  server.on('secureConnection', (socket: TLSSocket) => {
    const connection = connectionByAddressPair.get(addressPairOf(socket))
    if (connection === undefined) return socket.destroy()
    connection.attachSocket(socket)
    connectionOf.set(socket, connection)
  })
  // A client that fails at TLS cannot read an HTTP answer.
  server.prependListener('tlsClientError', (_, socket) => socket.destroy())
  return (socket: Socket, connection: Connection): void => {
    const pair = addressPairOf(socket)
    connectionByAddressPair.set(pair, connection)
    socket.once('close', () => {
      if (connectionByAddressPair.get(pair) === connection) connectionByAddressPair.delete(pair)
    })
  }
}

function addressPairOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ')
}

/** Resolves when the next refused client is read again. */
function createBackOff(clock: Clock): () => Promise<void> {
  let lastEndsAtMs = 0
  return () => {
    const nowMs = clock.monotonicMs()
    const endsAtMs = Math.max(nowMs + BACK_OFF_MS_MIN, lastEndsAtMs + BACK_OFF_APART_MS)
    lastEndsAtMs = Math.min(endsAtMs, nowMs + BACK_OFF_MS_MAX)
    return clock.delay(lastEndsAtMs - nowMs)
  }
}

/** Whether the connection must not be read after the answer to this request, before `resume` is called. */
type Park = (request: IncomingMessage, resume: () => void) => boolean

type Shared = {
  readonly listener: RequestListener
  readonly clock: Clock
  readonly park: Park
  readonly unread: UnreadAnswers
  /** Null for a connection that serves many clients. */
  readonly nextBackOff: (() => Promise<void>) | null
}

class Connection implements Occupant {
  /** A request began. */
  onUse = (): void => {}
  #socket: Socket
  readonly #shared: Shared
  #request: IncomingMessage | null = null
  #response: ServerResponse | null = null
  readonly #pipelined: (readonly [IncomingMessage, ServerResponse])[] = []
  /** What follows the answers to all requests that arrived; the socket is not read until then. */
  #last: (() => void) | null = null
  /** A WebSocket has limits of its own. */
  #isUpgraded = false
  #isBackingOff = false
  #unread: { readonly sinceMs: number; readonly resumedMs: number } | null = null
  /** Since when the connection waits for its client; null if it does not. */
  #lateSinceMs: number | null = null

  constructor(socket: Socket, shared: Shared) {
    this.#socket = socket
    this.#shared = shared
    this.attachSocket(socket)
  }

  /** From now on requests arrive on this socket. */
  attachSocket(socket: Socket): void {
    this.#socket = socket
    const destroySoon = socket.destroySoon.bind(socket)
    // After the last answer, even while the client still sends.
    socket.destroySoon = () =>
      this.#request?.complete === false ? closeGently(socket) : destroySoon()
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    this.#pipelined.push([request, response])
    if (this.#pipelined.length > PIPELINED_MAX + (this.#response === null ? 1 : 0)) this.evict()
    else this.#next()
  }

  /** The parser has left the socket. `follow` is called when all requests before have been answered. */
  receiveLast(follow: () => void): void {
    this.#last = follow
    this.#next()
  }

  upgrade(): void {
    this.#isUpgraded = true
  }

  countUnread(bytes: number): () => void {
    if (bytes < UNREAD_BYTES_MIN) return () => {}
    const { unread, nextBackOff } = this.#shared
    const address = nextBackOff === null ? null : this.#socket.remoteAddress
    return unread.add(address, bytes, () => this.evict())
  }

  backOff(response: ServerResponse): void {
    const wait = this.#shared.nextBackOff
    if (wait === null) return
    this.#isBackingOff = true
    response.once('close', () => {
      if (!response.shouldKeepAlive) return
      // Once Node has finished the request, after which it would read on.
      setImmediate(() => this.#pause())
      void wait().then(async () => {
        this.#resume()
        await nextTurn() // Node reads what the client sent, …
        await nextTurn() // … and whether it has left.
        this.#isBackingOff = false
        this.#next()
      })
    })
  }

  #next(): void {
    if (this.#response !== null || this.#isBackingOff || this.#socket.destroyed) return
    const next = this.#pipelined.shift()
    if (next === undefined) this.#follow()
    else this.#begin(...next)
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    this.#request = request
    this.#response = response
    this.onUse()
    // It may be refused before it is read, and to read it only to keep the connection is expensive.
    if (mayBeEndless(request)) response.shouldKeepAlive = false
    let releaseUnread = () => {}
    response.once('prefinish', () => {
      releaseUnread = this.countUnread(this.#socket.writableLength)
    })
    response.once('close', () => {
      releaseUnread()
      // Otherwise a complete request stays in memory until the next one.
      if (request.complete) this.#request = null
      this.#response = null
      if (this.#pipelined.length > 0 || this.#last !== null) this.#next()
      else if (response.shouldKeepAlive && !this.#isBackingOff) this.#park(request)
    })
    this.#shared.listener(request, response)
  }

  #follow(): void {
    const follow = this.#last
    this.#last = null
    // After an answer that ends the connection, nothing follows.
    if (follow !== null && this.#socket.writable) follow()
  }

  #pause(): void {
    if (this.#last === null) this.#socket.pause()
  }

  /** A socket that no parser reads would lose what it receives. */
  #resume(): void {
    if (this.#last === null) this.#socket.resume()
  }

  #park(request: IncomingMessage): void {
    const { park, clock } = this.#shared
    if (this.#socket.destroyed) return
    const sinceMs = clock.monotonicMs()
    const isParked = park(request, () => {
      this.#unread = { sinceMs, resumedMs: clock.monotonicMs() }
      this.#resume()
    })
    if (isParked) this.#pause()
  }

  takeUnreadSince(): number | null {
    const unread = this.#unread
    this.#unread = null
    const isRecent =
      unread !== null && this.#shared.clock.monotonicMs() - unread.resumedMs < RESUMED_MS_MAX
    return isRecent ? unread.sinceMs : null
  }

  state(): SocketState {
    if (this.#socket.writableEnded) return 'closing'
    if (this.#isUpgraded) return 'upgraded'
    if (this.#response !== null) return 'in a request'
    return this.#isBackingOff ? 'refused for a while' : 'idle'
  }

  /** Whether closing it loses no work: it has no request, or the client does not send or read its part. */
  isIdle(): boolean {
    const isAnswered = this.#response === null || this.#response.writableEnded
    return !this.#isUpgraded && (isAnswered || this.#request?.complete !== true)
  }

  evict(): void {
    this.#socket.destroy()
  }

  closeIfLate(nowMs: number, answerMsMax: number): void {
    const response = this.#response
    const isClosing = this.#socket.writableEnded
    const isUnread =
      response?.writableEnded === true && !response.writableFinished && !response.destroyed
    this.#lateSinceMs = isClosing || isUnread ? (this.#lateSinceMs ?? nowMs) : null
    const lateMsMax = isClosing ? Math.min(CLOSING_MS_MAX, answerMsMax) : answerMsMax
    if (nowMs - (this.#lateSinceMs ?? nowMs) >= lateMsMax) this.evict()
  }
}

/** Whether only our reading bounds the bytes of the body on the wire. */
function mayBeEndless({ headers }: IncomingMessage): boolean {
  const length = Number(headers['content-length'] ?? 0)
  return headers['transfer-encoding'] !== undefined || length > DISCARDED_BYTES_MAX
}
