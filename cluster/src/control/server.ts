/**
 * The control plane's HTTP server: tRPC on fastify, subscriptions over WebSocket, on a loopback address.
 *
 * A web page in the same browser must not be able to kill a node. So every request and upgrade must have this address as
 * its Host, not a name that resolves to it, and as its Origin, if it has one. Calls carry the token of the data directory
 * as a bearer; sockets send it first (`connectionParams: {token}`). There are no cookies.
 */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { afterDelay, type Clock, createSystemClock, sha256, utf8 } from '@quorumscan/base'
import { isErrno, type Metrics } from '@quorumscan/runtime'
import {
  answerClientError,
  ConnectionLimiter,
  closeWithin,
  createLocalListener,
  ownSockets,
  securityHeaders,
  trackUnused,
} from '@quorumscan/server'
import { TRPCError } from '@trpc/server'
import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import { applyWSSHandler } from '@trpc/server/adapters/ws'
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import { WebSocketServer } from 'ws'
import { type ControlContext, callerOf } from './calls.ts'
import { type AppRouter, appRouter } from './router.ts'
import { PortTakenError } from './take-ports.ts'

const HOST = '127.0.0.1'
const PATH = '/trpc'
/** The largest call is a scenario of a chaos run. */
const FRAME_BYTES_MAX = 1 << 20
/** The browser tabs and commands of one person. */
const SOCKETS_MAX = 64
/** The time for a socket to send its token. */
const TOKEN_MS_MAX = 10_000
/** The time for calls in progress at close. A call that stops the cluster ends before its server. */
const DRAIN_MS_MAX = 5000
const PING_MS = 15_000
const PONG_MS = 10_000

/** `context` throws while the control plane is starting. */
export type ControlServerInput = {
  readonly port: number
  readonly token: string
  readonly context: () => Omit<ControlContext, 'caller'>
  /** Served at `/metrics` to callers with the token. */
  readonly metrics?: Metrics
  /** Adds routes that need no token, such as the files of the console. */
  readonly extend?: (server: FastifyInstance) => Promise<void>
  readonly clock?: Clock
  /** Other limits of connections than those of every server. */
  readonly limits?: Parameters<typeof createLocalListener>[1]['limits']
}

/**
 * Listens. The process that holds the port is the only control plane of the cluster.
 *
 * @throws {PortTakenError}
 */
export async function startControlServer(input: ControlServerInput): Promise<FastifyInstance> {
  const { clock = createSystemClock() } = input
  const server = fastify({
    routerOptions: { maxParamLength: 1000 },
    serverFactory: (listener) =>
      createLocalListener(listener, { clock, ...(input.limits && { limits: input.limits }) }),
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, _request, reply) => refusePath(reply as FastifyReply, error),
  })
  // Browsers open connections ahead of need.
  const endUnused = trackUnused(server.server)
  const closed = new AbortController()
  server.addHook('preClose', async () => {
    endUnused()
    closeWithin(server.server, { ms: DRAIN_MS_MAX, clock, signal: closed.signal })
  })
  server.addHook('onClose', async () => closed.abort())
  server.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders)
    const refusal = forbiddenReason(request.headers, input.port)
    if (refusal !== null) return reply.code(403).send({ error: refusal })
  })
  await server.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      if (!isEqualSecret(request.headers.authorization ?? '', `Bearer ${input.token}`))
        return reply.code(401).send({ error: 'the token of the data directory is needed' })
    })
    const { metrics } = input
    if (metrics !== undefined)
      scope.get('/metrics', async (_request, reply) => {
        const { contentType, text } = await metrics.expose()
        return reply.type(contentType).header('cache-control', 'no-store').send(text)
      })
    await scope.register(fastifyTRPCPlugin, {
      prefix: PATH,
      trpcOptions: {
        router: appRouter,
        createContext: ({ req }) => ({ ...input.context(), caller: callerOf(req.headers) }),
      },
    } satisfies FastifyTRPCPluginOptions<AppRouter>)
  })
  await input.extend?.(server)
  acceptSockets(server, input, clock)
  try {
    await server.listen({ port: input.port, host: HOST })
  } catch (error) {
    await server.close()
    if (!isErrno(error, 'EADDRINUSE')) throw error
    throw new PortTakenError(
      `port ${input.port} of the control plane is in use by another program; ` +
        'move the cluster with --base-port, or --base-port 0 for any ports',
    )
  }
  return server
}

/** Subscriptions use WebSockets: Node 20 has no EventSource, and browsers set headers on neither. */
function acceptSockets(server: FastifyInstance, input: ControlServerInput, clock: Clock): void {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX })
  const limiter = new ConnectionLimiter({
    pool: 'subscriptions of a control plane',
    max: SOCKETS_MAX,
    perClientMax: SOCKETS_MAX,
    perNetworkMax: SOCKETS_MAX,
  })
  const withToken = new WeakSet<IncomingMessage>()
  const handler = applyWSSHandler({
    wss: sockets,
    router: appRouter,
    createContext: ({ info, req }) => {
      if (!isEqualSecret(info.connectionParams?.['token'] ?? '', input.token))
        throw new TRPCError({ code: 'UNAUTHORIZED', message: 'the token is needed' })
      withToken.add(req)
      return { ...input.context(), caller: callerOf(req.headers) }
    },
    keepAlive: { enabled: true, pingMs: PING_MS, pongWaitMs: PONG_MS },
  })
  ownSockets(server.server, (path) => {
    if (path !== PATH) return null
    return (request, socket, head) => {
      const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\n\r\n`)
      const hasToken = () => withToken.has(request)
      if (forbiddenReason(request.headers, input.port) !== null) return refuse('403 Forbidden')
      // A new socket takes the slot of one that has not sent the token.
      const isIdle = () => !hasToken()
      const slot = limiter.acquire(undefined, { isIdle, evict: () => socket.destroy() })
      if (slot === null) return refuse('503 Service Unavailable')
      const closed = new AbortController()
      socket.once('close', () => {
        slot.release()
        closed.abort()
      })
      void afterDelay({ clock, ms: TOKEN_MS_MAX, signal: closed.signal }, () => {
        if (!hasToken()) socket.destroy()
      })
      sockets.handleUpgrade(request, socket, head, (accepted) =>
        sockets.emit('connection', accepted, request),
      )
    }
  })
  server.addHook('preClose', async () => {
    handler.broadcastReconnectNotification()
    for (const client of sockets.clients) client.terminate()
    sockets.close()
  })
}

/** Why a request is refused; null: it is accepted. */
function forbiddenReason({ host = '', origin }: IncomingHttpHeaders, port: number): string | null {
  const hosts = [`${HOST}:${port}`, `localhost:${port}`]
  // With another Host, a web page has made its own name resolve to this address.
  if (!hosts.includes(host)) return 'wrong host'
  if (origin === undefined) return null
  return hosts.some((one) => origin === `http://${one}`) ? null : 'wrong origin'
}

function isEqualSecret(given: string, wanted: string): boolean {
  return timingSafeEqual(sha256(utf8(given)), sha256(utf8(wanted)))
}

/** Refuses a malformed path, for which no hook runs. */
function refusePath(reply: FastifyReply, { message }: Error): void {
  reply.headers(securityHeaders).code(400).send({ error: message })
}
