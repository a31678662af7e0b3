/**
 * Node's HTTP server, as every process listens: who gets a connection, who loses one, and what a connection
 * may send. Routes and answers are none of its business.
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
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Server as SecureServer, type TLSSocket } from 'node:tls'
import { healthRoutes } from '@quorumscan/api'
import type { Clock } from '@quorumscan/base'
import type { Certificate } from '@quorumscan/runtime'
import { clientKey } from './client-key.ts'
import { closeGently, discardInput } from './closing.ts'
import { createDoor, type Door, type Entrant, nextAnswersInARow } from './door.ts'
import type { HttpLimits } from './limits.ts'
import type { Origins } from './origins.ts'
import { type Guest, type Place, Places } from './places.ts'
import { createProxiedClients, type ProxiedClients } from './proxied-clients.ts'
import { createBudget } from './rate-limit.ts'

/** How often Node, and we, look for what is late. */
const CHECK_MS = 1000
/** Once we have said our last word, the other side may go on so long: as long as a request may take to arrive. */
const CLOSING_MS_MAX = 10_000
/** After a refusal: as whoever is refused is told, … */
const REST_MS_MIN = 1000
/** … longer where many are, of whom one comes back after the other, so that refusing them stays cheap … */
const REST_APART_MS = 2
/** … but less long than anybody waits for an answer (D-38: 10 s). */
const REST_MS_MAX = 8000
/** Requests that follow on one connection before the one before them is answered. Hardly anybody sends any. */
const PIPELINED_MAX = 8
/** Of one client, a second: each costs up to a millisecond of signing, and whoever waits for answers needs one. */
const HANDSHAKES_MAX = 100

/** Whether its connection, or its client behind a proxy, got no place: only a probe of our health is answered. */
export function isForProbesOnly(socket: Socket): boolean {
  return connectionOf.get(socket)?.isForProbesOnly() ?? false
}

/** How long its request waited for a crowd before it began; 0 for a connection that is none of a server's. */
export function waitedMs(socket: Socket): number {
  return connectionOf.get(socket)?.waitedMs ?? 0
}

/** Reads no more of the request, which is refused: what may be endless is thrown away unparsed. */
export function giveUpReading(request: IncomingMessage): void {
  // With a listener, what has been parsed is not queued up first, which for tiny pieces takes twice the time.
  request.on('error', () => {}).on('data', () => {})
  // Node's parser is at it.
  if (connectionOf.has(request.socket) && mayBeEndless(request))
    process.nextTick(discardInput, request.socket)
}

/**
 * After this answer, which tells the client to come again later, nothing of its connection is read for a moment
 * (behind a proxy: nothing of the client is begun): so that to refuse whoever does not wait costs next to nothing, however often and from wherever it asks.
 */
export function restAfter(response: ServerResponse): void {
  connectionOf.get(response.req.socket)?.rest(response)
}

const connectionOf = new WeakMap<Socket, Connection>()

/** Speaks TLS where there is a certificate. */
export function createHttpServer(
  options: {
    readonly limits: HttpLimits
    readonly clock: Clock
    readonly origins: Origins
    readonly certificate: Certificate | null
    /** Where routes are mounted, for which a probe asks as well. */
    readonly prefixes: readonly string[]
  },
  listener: RequestListener,
): Server {
  const { limits, clock, origins, certificate } = options
  const isProbe = probeTest(options.prefixes)
  const places = new Places({
    max: limits.connectionsMax,
    perClientMax: limits.connectionsPerClientMax,
    perNetworkMax: limits.connectionsPerNetworkMax,
    areInUse: false,
    isProxy: origins.isProxy,
  })
  const resting = createResting(clock)
  const proxied = createProxiedClients({
    limits,
    addressOf: origins.addressOf,
    clock,
    restMs: REST_MS_MIN,
    nextRested: resting.next,
  })
  const door = createDoor(clock)
  const open = new Set<Connection>()
  /** Without a place, the first to come first. */
  const spare = new Set<Connection>()
  const settings = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.requestMsMax,
    requestTimeout: limits.requestMsMax + limits.bodyMsMax,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: limits.keepAliveMsMax,
  }
  const onRequest: RequestListener = (request, response) => {
    // After it was ended, Node still reads what had come with the request that it was ended for.
    if (request.socket.destroyed) return
    connectionOf.get(request.socket)?.take(request, response, listener)
  }
  const server =
    certificate === null
      ? createServer(settings, onRequest)
      : createSecureServer(
          { ...settings, ...certificate.begin(), handshakeTimeout: limits.requestMsMax },
          onRequest,
        )
  server.timeout = limits.idleConnectionMsMax
  // Whoever has no place leaves when the next one comes; until it is gone there are two.
  server.maxConnections = limits.connectionsMax + 2 * limits.spareConnectionsMax
  server.on('connection', (socket: Socket) => {
    const isProxy = origins.isProxy(socket.remoteAddress)
    const connection = new Connection(socket, {
      resting,
      door,
      isProbe,
      proxied: isProxy ? proxied : null,
    })
    connectionOf.set(socket, connection)
    connection.place = places.take(socket.remoteAddress, connection)
    open.add(connection)
    door.noteNewcomer()
    if (connection.place === null) spare.add(connection)
    if (spare.size > limits.spareConnectionsMax) first(spare)?.leave()
    socket.once('close', () => {
      connection.place?.release()
      open.delete(connection)
      spare.delete(connection)
    })
  })
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => {
    const connection = connectionOf.get(socket)
    if (connection?.place === null) connection.leave()
    else if (connection !== undefined) connection.isUpgraded = true
  })
  const closed = new AbortController()
  server.once('close', () => closed.abort())
  server.once('listening', () => {
    void endTheLate({ open, clock, answerMsMax: limits.answerMsMax, closed: closed.signal })
    if (server instanceof SecureServer) void certificate?.follow(server, closed.signal)
  })
  if (server instanceof SecureServer) handOver(server, origins, clock)
  return server
}

/** Whether a request asks for exactly the path of a probe: no other may pass the limits of its client. */
function probeTest(prefixes: readonly string[]): (request: IncomingMessage) => boolean {
  const paths = new Set(
    prefixes.flatMap((prefix) =>
      [healthRoutes.livez, healthRoutes.readyz].map(({ path }) => prefix + path),
    ),
  )
  return ({ method, url = '' }) =>
    (method === 'GET' || method === 'HEAD') && paths.has(url.split('?', 1)[0] ?? '')
}

/** Has connections go on by the socket that speaks TLS, once there is one. */
function handOver(server: SecureServer, { isProxy }: Origins, clock: Clock): void {
  const budget = createBudget({ unitsPerSecond: HANDSHAKES_MAX, clock })
  /** Those in the middle of a handshake: Node does not say of which connection a TLS socket is. */
  const connectionByEnds = new Map<string, Connection>()
  server.on('connection', (socket: Socket) => {
    const connection = connectionOf.get(socket)
    if (connection === undefined) return
    try {
      if (!isProxy(socket.remoteAddress)) budget.admit(clientKey(socket.remoteAddress), 1)
    } catch {
      return connection.leave()
    }
    const ends = endsOf(socket)
    connectionByEnds.set(ends, connection)
    socket.once('close', () => {
      if (connectionByEnds.get(ends) === connection) connectionByEnds.delete(ends)
    })
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    const connection = connectionByEnds.get(endsOf(socket))
    if (connection === undefined) return socket.destroy()
    connectionByEnds.delete(endsOf(socket))
    connection.speakBy(socket)
    connectionOf.set(socket, connection)
  })
  // Who fails at it cannot be told in HTTP, as else whoever sends what is none.
  server.prependListener('tlsClientError', (_, socket) => socket.destroy())
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ')
}

async function endTheLate(server: {
  readonly open: ReadonlySet<Connection>
  readonly clock: Clock
  readonly answerMsMax: number
  readonly closed: AbortSignal
}): Promise<void> {
  const { open, clock, answerMsMax, closed } = server
  while (!closed.aborted) {
    // Aborted: the loop ends.
    await clock.delay(CHECK_MS, closed).catch(() => {})
    for (const connection of open) connection.leaveIfLate(clock.monotonicMs(), answerMsMax)
  }
}

type Resting = {
  /** Resolves when the next one that is refused has rested. */
  next(): Promise<void>
}

function createResting(clock: Clock): Resting {
  let lastEndsAtMs = 0
  return {
    next() {
      const nowMs = clock.monotonicMs()
      const endsAtMs = Math.max(nowMs + REST_MS_MIN, lastEndsAtMs + REST_APART_MS)
      lastEndsAtMs = Math.min(endsAtMs, nowMs + REST_MS_MAX)
      return clock.delay(lastEndsAtMs - nowMs)
    },
  }
}

class Connection implements Guest, Entrant {
  /** Null where there was none. */
  place: Place | null = null
  /** A WebSocket has bounds of its own. */
  isUpgraded = false
  /** Of the request that it is at. */
  waitedMs = 0
  #socket: Socket
  readonly #resting: Resting
  readonly #door: Door
  readonly #isProbe: (request: IncomingMessage) => boolean
  /** Null where it is of one client. */
  readonly #proxied: ProxiedClients | null
  /** Of the request that it is at. */
  #hasPlace = true
  #request: IncomingMessage | null = null
  #response: ServerResponse | null = null
  #isBusy = false
  #isResting = false
  /** Before it is kept away, where many stand in line. */
  #answersInARow = 1
  #answersLeft = 1
  /** Requests that came ahead of their turn. */
  readonly #waiting: { readonly isProbe: boolean; begin(): void }[] = []
  /** For the client, to take what it is sent, or to close its side; null where we do not wait. */
  #waitingSinceMs: number | null = null

  constructor(
    socket: Socket,
    shared: {
      readonly resting: Resting
      readonly door: Door
      readonly isProbe: (request: IncomingMessage) => boolean
      readonly proxied: ProxiedClients | null
    },
  ) {
    this.#socket = socket
    this.#proxied = shared.proxied
    this.#resting = shared.resting
    this.#door = shared.door
    this.#isProbe = shared.isProbe
    this.speakBy(socket)
  }

  /** From here on it is this socket by which requests come. */
  speakBy(socket: Socket): void {
    this.#socket = socket
    const destroySoon = socket.destroySoon.bind(socket)
    // After the last answer, even while the client is still sending what nobody reads.
    socket.destroySoon = () =>
      this.#request?.complete === false ? closeGently(socket) : destroySoon()
  }

  isForProbesOnly(): boolean {
    return this.place === null || !this.#hasPlace
  }

  /** Has the listener answer the request, when its turn comes and those before it are answered. */
  take(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
    const isProbe = this.#isProbe(request)
    const entered = isProbe ? null : (this.#proxied?.enter(request, response) ?? null)
    if (entered?.rested != null) this.#waitFor(entered.rested)
    this.#waiting.push({
      isProbe,
      begin: () => {
        this.#hasPlace = entered?.hasPlace ?? true
        this.#begin(request, response)
        listener(request, response)
      },
    })
    const followers = this.#isBusy ? this.#waiting.length : this.#waiting.length - 1
    if (followers > PIPELINED_MAX) this.leave()
    else this.#next()
  }

  /** Nothing is done for whoever left meanwhile. */
  begin(waitedMs: number): void {
    if (!this.#isReady()) return
    this.waitedMs = waitedMs
    this.#waiting.shift()?.begin()
  }

  /** Nothing is begun before its client has rested. */
  #waitFor(rested: Promise<void>): void {
    this.#isResting = true
    void rested.then(() => {
      this.#isResting = false
      this.#next()
    })
  }

  /** Nothing more is taken of its client for a moment after this answer. */
  rest(response: ServerResponse): void {
    if (this.#proxied !== null) {
      this.#proxied.noteRefused(response.req)
      return
    }
    this.#isResting = true
    response.once('close', () => {
      if (!response.shouldKeepAlive) return
      // Once Node is through with the request, after which it reads on.
      setImmediate(() => this.#socket.pause())
      void this.#resting.next().then(async () => {
        this.#socket.resume()
        await nextTurn() // What was sent is read, …
        await nextTurn() // … and whether its client is still there.
        this.#isResting = false
        this.#next()
      })
    })
  }

  #readInTurn(): void {
    this.#answersLeft--
    if (this.#answersLeft > 0 || this.#socket.destroyed) return
    if (this.#door.keepAway(this)) this.#socket.pause()
  }

  comeBack(awayMs: number): void {
    this.#answersInARow = nextAnswersInARow(this.#answersInARow, awayMs)
    this.#answersLeft = this.#answersInARow
    this.#socket.resume()
  }

  #next(): void {
    const [next] = this.#waiting
    if (next !== undefined && this.#isReady()) this.#door.enter(this, next)
  }

  #isReady(): boolean {
    return this.#waiting.length > 0 && !this.#isBusy && !this.#isResting && !this.#socket.destroyed
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    this.#isBusy = true
    response.once('close', () => {
      this.#isBusy = false
      // Else what is over would be kept, and moved about in memory, until the next request.
      if (request.complete) this.#request = null
      this.#response = null
      if (this.#waiting.length > 0) this.#next()
      else if (response.shouldKeepAlive && !this.#isResting) this.#readInTurn()
    })
    this.#request = request
    this.#response = response
    this.place?.touch()
    if (this.place === null) response.shouldKeepAlive = false
    // It may be refused before it was read, and reading it only to keep the connection is dear.
    if (mayBeEndless(request)) response.shouldKeepAlive = false
  }

  /** We are not at anything, or the client does not send or take its part of it. */
  isIdle(): boolean {
    if (this.isUpgraded) return false
    return (
      this.#response === null || this.#response.writableEnded || this.#request?.complete !== true
    )
  }

  leave(): void {
    this.#socket.destroy()
  }

  /** Ends a connection whose client does not take an answer, or does not close its side after us. */
  leaveIfLate(nowMs: number, answerMsMax: number): void {
    const response = this.#response
    const isUntaken =
      response?.writableEnded === true && !response.writableFinished && !response.destroyed
    const isClosing = this.#socket.writableEnded
    if (!isUntaken && !isClosing) this.#waitingSinceMs = null
    else {
      this.#waitingSinceMs ??= nowMs
      const waitMsMax = isClosing ? Math.min(CLOSING_MS_MAX, answerMsMax) : answerMsMax
      if (nowMs - this.#waitingSinceMs >= waitMsMax) this.leave()
    }
  }
}

/** A body whose bytes on the wire nothing bounds but our reading of it. */
function mayBeEndless({ headers }: IncomingMessage): boolean {
  return (
    headers['transfer-encoding'] !== undefined ||
    Number(headers['content-length'] ?? 0) > THROWN_AWAY_BYTES_MAX
  )
}

/** A body so long is read to its end to keep the connection, whatever was answered. */
const THROWN_AWAY_BYTES_MAX = 1024 * 1024

function first<T>(items: Set<T>): T | undefined {
  const [item] = items
  return item
}
