/**
 * Streams of the ledger interface over WebSocket (D-28, reference/ledger-interface.md §3.6).
 *
 * The life of a connection, with what ends it:
 *   upgrade          404; token from `Authorization` or a sub-protocol: 400, 401, 403, before there is a socket
 *   first frame      at most 1 MiB, within 10 s: an error as a frame, or close 1008, 1009
 *   elements         one object a frame, no faster than the client reads: a client that reads nothing for
 *                    30 s is cut off (1013), one that answers no ping too; an error is the last frame
 *   end              1000 when the range is delivered, 1001 when the process stops
 *
 * Memory for a connection is bounded: while the socket takes a batch, the next one is made, and no more.
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@quorumscan/base'
import { LedgerDecodeError, LedgerError } from '@quorumscan/errors'
import type { FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import { type WebSocket, WebSocketServer } from 'ws'
import { parseJson } from '../body-parser.ts'
import { JSON_TYPE, TEXT_TYPE, toLedgerFailure } from './answers.ts'
import { compileDecoder } from './decode.ts'
import type { LedgerAuthenticate } from './mount.ts'
import { textFrames } from './text-frames.ts'

/** D-28. */
const FRAME_BYTES_MAX = 1024 * 1024
const FIRST_FRAME_MS = 10_000
/** A client that does not take one buffer of frames in this time does not read. */
const STALLED_MS = 30_000
/** Between pings; a client that has not answered one by the next is gone. */
const PING_MS = 30_000
/** After a close, a client may answer so long. */
const CLOSE_MS = 2_000
/** Connections of all clients: each takes some 30 kB. */
const SOCKETS_MAX = 4_096
const PROTOCOL = 'daml.ws.auth'
const TOKEN_PREFIX = 'jwt.token.'

/** RFC 6455 §7.4.1, and 1013 of its registry. */
const CLOSED = { done: 1000, leaving: 1001, refused: 1008, tooSlow: 1013 } as const

export type LedgerSocket<Caller> = {
  readonly path: `/v2/${string}`
  /** What the first frame holds. */
  readonly request: TSchema
  /** JSON texts to be sent, a frame each. Ends or fails when the signal aborts. */
  open(input: {
    readonly request: never
    readonly caller: Caller
    readonly signal: AbortSignal
  }): Promise<AsyncIterable<readonly string[]>>
}

type SocketsMount<Caller> = {
  readonly sockets: readonly LedgerSocket<Caller>[]
  readonly authenticate: LedgerAuthenticate<Caller>
  readonly participant: string
  readonly clock: Clock
}

/** Takes upgrades of the server's connections. */
export function mountSockets<Caller>(app: FastifyInstance, mount: SocketsMount<Caller>): void {
  const { clock } = mount
  const byPath = new Map(
    mount.sockets.map((socket) => [
      socket.path as string,
      { socket, decode: compileDecoder(socket.request, 'body') },
    ]),
  )
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    maxPayload: FRAME_BYTES_MAX,
    // Compressing needs hundreds of kB a connection, and its time is everybody's.
    perMessageDeflate: false,
    // The token is never echoed.
    handleProtocols: () => PROTOCOL,
  })
  const closing = new AbortController()
  let count = 0

  app.server.on('upgrade', (request, socket, head) => {
    // Destroyed by either side: there is nobody to tell.
    socket.on('error', () => socket.destroy())
    const upgrade = async () => {
      const found = byPath.get(pathOf(request))
      if (found === undefined) return refuse(socket, notFound(request))
      if (closing.signal.aborted || count >= SOCKETS_MAX)
        throw new LedgerError('SERVICE_NOT_RUNNING', 'no more streams can be opened now')
      const caller = await mount.authenticate({
        authorization: authorizationOf(request),
        auth: 'user',
      })
      if (socket.destroyed) return
      server.handleUpgrade(request, socket, head, (webSocket) => {
        count++
        webSocket.once('close', () => count--)
        void serve(webSocket, {
          ...found,
          connection: socket,
          caller,
          mount,
          closing: closing.signal,
        })
      })
    }
    upgrade().catch((error: unknown) => {
      const failure = toLedgerFailure(error, { traceId: '', participant: mount.participant })
      if (failure.log !== undefined)
        app.log[failure.log.level]({ err: failure.log.reason }, 'refused an upgrade')
      refuse(socket, failure)
    })
  })
  app.addHook('preClose', async () => {
    closing.abort()
    const allGone = new AbortController()
    for (const client of server.clients) {
      client.once('close', () => server.clients.size === 0 && allGone.abort())
      client.close(CLOSED.leaving)
    }
    // Rejects when all have gone in time.
    if (server.clients.size > 0) await clock.delay(CLOSE_MS, allGone.signal).catch(() => {})
    for (const client of server.clients) client.terminate()
  })
  void keepAlive(server, clock, closing.signal)
}

/** `//v2/...` is what existing clients ask for (D-3). */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0]?.replace(/\/{2,}/g, '/') ?? ''
}

/** The header wins; else the sub-protocol with the token, in whichever place. */
function authorizationOf(request: IncomingMessage): string | null {
  const { authorization } = request.headers
  if (authorization !== undefined) return authorization
  const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',')
  const token = protocols.map((text) => text.trim()).find((text) => text.startsWith(TOKEN_PREFIX))
  return token === undefined ? null : `Bearer ${token.slice(TOKEN_PREFIX.length)}`
}

type Refusal = { readonly status: number; readonly type: string; readonly body: string }

function notFound(request: IncomingMessage): Refusal {
  const errors = [`HttpMethod(${request.method}), uri: ${request.url}`]
  const body = JSON.stringify({ errors, status: 404, ledgerApiError: null })
  return { status: 404, type: JSON_TYPE, body }
}

function refuse(socket: Duplex, { status, type, body }: Refusal): void {
  socket.end(
    `HTTP/1.1 ${status} Refused\r\ncontent-type: ${type}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}

async function serve<Caller>(
  webSocket: WebSocket,
  options: {
    readonly socket: LedgerSocket<Caller>
    /** Below the WebSocket. */
    readonly connection: Duplex
    readonly decode: (value: unknown) => unknown
    readonly caller: Caller
    readonly mount: SocketsMount<Caller>
    readonly closing: AbortSignal
  },
): Promise<void> {
  const { mount, socket, connection, decode, caller } = options
  const { clock } = mount
  const closed = new AbortController()
  webSocket.once('close', () => closed.abort())
  // The close that follows is what is acted upon.
  webSocket.on('error', () => {})
  const close = (code: number, reason: string) => {
    webSocket.close(code, reason)
    clock.delay(CLOSE_MS, closed.signal).then(
      () => webSocket.terminate(),
      () => {}, // It was closed in time.
    )
  }
  try {
    const frame = await firstFrame(webSocket, clock, closed.signal)
    if (frame === 'none') return close(CLOSED.refused, 'no request came within 10 s')
    const request = decode(parseJson(frame)) as never
    const elements = await socket.open({ request, caller, signal: closed.signal })
    const sent = await deliver(elements, { webSocket, connection, clock, closed: closed.signal })
    if (sent === 'taken') close(CLOSED.done, '')
    else if (sent === 'stalled') close(CLOSED.tooSlow, 'the client does not read')
  } catch (error) {
    if (closed.signal.aborted) return
    const asFrame =
      error instanceof LedgerDecodeError
        ? new LedgerError('INVALID_ARGUMENT', error.message)
        : error
    const told = toLedgerFailure(asFrame, { traceId: '', participant: mount.participant })
    // A frame is always of the JSON form (§3.6).
    webSocket.send(
      told.type === TEXT_TYPE ? invalidRequest(told.body, mount.participant) : told.body,
    )
    close(CLOSED.done, '')
  }
}

function invalidRequest(message: string, participant: string): string {
  const error = new LedgerError('INVALID_ARGUMENT', message)
  return toLedgerFailure(error, { traceId: '', participant }).body
}

async function firstFrame(
  webSocket: WebSocket,
  clock: Clock,
  closed: AbortSignal,
): Promise<Buffer | 'none'> {
  const came = new AbortController()
  const signal = AbortSignal.any([closed, came.signal])
  try {
    return await Promise.race([
      once(webSocket, 'message', { signal }).then(([data]) => data as Buffer),
      clock.delay(FIRST_FRAME_MS, signal).then((): 'none' => 'none'),
    ])
  } finally {
    came.abort()
  }
}

/** `gone`: the connection is closed, or on its way there, by either side. */
type Sent = 'taken' | 'stalled' | 'gone'

type Client = {
  readonly webSocket: WebSocket
  readonly connection: Duplex
  readonly clock: Clock
  readonly closed: AbortSignal
}

/** Sends a stream to its end. While the client takes a batch, the next one is made. */
async function deliver(elements: AsyncIterable<readonly string[]>, client: Client): Promise<Sent> {
  let sending: Promise<Sent> = Promise.resolve('taken')
  try {
    for await (const batch of elements) {
      if ((await sending) !== 'taken') break
      sending = send(batch, client)
    }
  } catch (error) {
    // What came before an error goes before it.
    if ((await sending) === 'taken') throw error
  }
  return await sending
}

/** Sends each element as a frame. Resolves when the kernel has taken all, or the client takes no more. */
async function send(batch: readonly string[], client: Client): Promise<Sent> {
  const { webSocket, connection, clock, closed } = client
  for (const frames of textFrames(batch)) {
    // On its way to being closed it takes everything, and at once: nothing would hold the stream back.
    if (webSocket.readyState !== webSocket.OPEN) return 'gone'
    let isTaken = false
    const taken = new Promise<void>((resolve) => {
      connection.write(frames, () => {
        isTaken = true
        resolve()
      })
    })
    // Most are taken at once. Whoever else waits for this process has a turn meanwhile.
    await setImmediate()
    if (isTaken) continue
    const done = new AbortController()
    const stalled = clock
      .delay(STALLED_MS, AbortSignal.any([closed, done.signal]))
      .then((): Sent => 'stalled')
    const outcome = await Promise.race([taken.then((): Sent => 'taken'), stalled]).catch(
      (): Sent => 'gone',
    )
    done.abort()
    if (outcome !== 'taken') return outcome
  }
  return 'taken'
}

/** Ends connections whose other side is gone without a word. */
async function keepAlive(
  server: WebSocketServer,
  clock: Clock,
  closing: AbortSignal,
): Promise<void> {
  const waiting = new WeakSet<WebSocket>()
  while (!closing.aborted) {
    // Aborted: the loop ends.
    await clock.delay(PING_MS, closing).catch(() => {})
    if (closing.aborted) return
    for (const client of server.clients) {
      // What is full is watched by `send`, and would not hear a ping.
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
