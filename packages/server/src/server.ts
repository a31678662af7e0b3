/**
 * The HTTP server of every process: binds a table of routes to its handlers.
 *
 * What a request passes, in order, with the error that leaves each stage:
 *   connection      `listener.ts`, `connection-limiter.ts`, `closing.ts`: closed without an answer if it gets no slot
 *                   or fails at TLS; slow: REQUEST_TIMEOUT; not HTTP: MALFORMED_REQUEST
 *   path            MALFORMED_REQUEST, ROUTE_NOT_FOUND, METHOD_NOT_ALLOWED, METHOD_NOT_IMPLEMENTED
 *   client          `client.ts`, `client-address.ts`: the address or peer that pays
 *   closing?        NOT_READY
 *   token bucket    `token-buckets.ts`: RATE_LIMITED (D-33)
 *   queue           `load-shedder.ts`: OVERLOADED after 1.75 s, or if too much work is in progress
 *   authentication  `routes.ts`: UNAUTHENTICATED, PERMISSION_DENIED
 *   body            `body.ts`: BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_BODY; slow: REQUEST_TIMEOUT; long: RATE_LIMITED
 *   decoding        `validation.ts`: INVALID_ARGUMENT, or the member's own code (D-7)
 *   rest of cost    `bind.ts`: RATE_LIMITED, OVERLOADED
 *   handler         `handler.ts`, `deadlines.ts`, `long-polls.ts`: what the route declares; anything else is INTERNAL, and
 *                   the process logs the reason
 *   answer          `respond.ts`: headers; after RATE_LIMITED and OVERLOADED the connection is not read for a second
 *
 * Probes of health pass the token bucket and wait in the queue before others. WebSockets (`sockets/mount.ts`) and the
 * ledger interface (`ledger-api`) use the same stages with decoders and error forms of their own.
 */
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { healthRoutes, type RouteDef, type RouteTable } from '@quorumscan/api'
import { type Clock, createSystemClock } from '@quorumscan/base'
import { PLAIN_CONNECTIONS, type ProxiesConfig } from '@quorumscan/config'
import { ScanError } from '@quorumscan/errors'
import type { Logger, Metrics, Span, TlsCertificate, Tracer } from '@quorumscan/runtime'
import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify'
import { admissionUnits, type Bind, createBind } from './bind.ts'
import { type BodyReader, createBodyReader, decodeBody } from './body.ts'
import { type Client, type Clients, createClients, PROXIES, type RateLimit } from './client.ts'
import { createClientAddresses } from './client-address.ts'
import { answerClientError, closeWithin, trackUnused } from './closing.ts'
import { preflightHeaders } from './cors.ts'
import { createDeadlines } from './deadlines.ts'
import { type Documents, mountDocuments } from './documents.ts'
import { createFailures, type Failures } from './failures.ts'
import { ambiguityOf } from './framing.ts'
import type { Handlers } from './handler.ts'
import { defaultLimits, type HttpLimits } from './limits.ts'
import { createListener, unreadSinceMs } from './listener.ts'
import { createLoadShedder, type LoadShedder } from './load-shedder.ts'
import { assertKnownMethod } from './methods.ts'
import { observe, serveMetrics, unitsCounter, withoutChildren } from './observe.ts'
import { parseQuery } from './query-parser.ts'
import { createRequestIds, givenRequestId } from './request-id.ts'
import { createResponder, type Responder } from './respond.ts'
import { mountRoutes, type RoutesMount } from './routes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What `authenticate` returned, or null. */
    user: unknown
    /** The span of the request, where requests are traced. */
    traced: Span | null
    /** Set before any other stage. */
    client: Client
  }
  interface FastifyContextConfig {
    /** Absent where no operation has the path. */
    readonly route?: RouteDef
  }
  interface FastifyInstance {
    /** The stages, for other interfaces of the same server. */
    readonly stages: Stages
    buildOperatorServer(): FastifyInstance
  }
}

type Stages = {
  readonly clientOf: Clients['of']
  readonly failures: Failures
  readonly responder: Responder
  readonly bind: Bind
  readonly readBody: BodyReader
}

/** The result of `buildServer`; apps do not depend on Fastify. */
export type HttpServer = FastifyInstance

export type ServerOptions<Routes extends RouteTable, User> = RoutesMount<Routes, User> & {
  /** The second mount point, such as `/api/scan`, in addition to the root (D-3); null for none. */
  readonly prefix: string | null
  /** Units per second for each client (D-33); null for no limit. */
  readonly rateLimit: RateLimit | null
  /** Without it, nothing is logged. */
  readonly logger?: Logger
  /** Where every answer is measured; `/metrics` serves it, or that of the operator's server. */
  readonly metrics?: Metrics
  readonly hasOperatorServer?: boolean
  /** Served below each mount point; not in a route table, so that generated clients do not contain them. */
  readonly documents?: Documents
  /** Makes a span of every request. */
  readonly tracer?: Tracer | null
  /** Headers of every answer and every error, such as those of the head (D-10). Must not throw. */
  readonly commonHeaders?: () => Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly limits?: Partial<HttpLimits>
  /** Null: without TLS. */
  readonly certificate?: TlsCertificate | null
  /** Reverse proxies in front of it; without them, no header determines the address of a client. */
  readonly proxies?: ProxiesConfig
}

/**
 * Builds the server: `listen({host, port})` starts it, `close()` answers what is in progress and ends.
 *
 * @throws {AssertionError} If a route needs a user and `authenticate` is missing.
 */
export function buildServer<Routes extends RouteTable, User = never>(
  options: ServerOptions<Routes, User>,
): FastifyInstance {
  const limits = { ...defaultLimits, ...options.limits }
  const clock = options.clock ?? createSystemClock()
  const { metrics, certificate = null, commonHeaders = () => ({}) } = options
  const failures = createFailures(metrics, clock)
  let isClosing = false
  const responder = createResponder({ commonHeaders, isClosing: () => isClosing, failures })
  const clientAddresses = createClientAddresses(options.proxies ?? PLAIN_CONNECTIONS.proxies)
  const closed = new AbortController()
  const deadlines = createDeadlines(clock, closed.signal)
  const shedder = createLoadShedder(clock, deadlines, options.rateLimit ?? {})
  const clients = createClients({ rateLimit: options.rateLimit, clientAddresses, clock })
  const turns = {
    noteConnection: shedder.noteConnection,
    park: (request: IncomingMessage, resume: () => void) => {
      const isOfProxy = clientAddresses.isProxy(request.socket.remoteAddress)
      return shedder.park(isOfProxy ? PROXIES : clients.of(request).network, resume)
    },
  }
  const bind = createBind({ shedder, deadlines, responder, countUnits: unitsCounter(metrics) })
  const app = createInstance(options, limits, responder, (listener) =>
    createListener({ limits, clock, clientAddresses, clients, certificate, ...turns }, listener),
  )
  const readBody = createBodyReader(deadlines)
  const stages: Stages = { clientOf: clients.of, failures, responder, bind, readBody }
  app.decorate('stages', stages)
  app.decorate('buildOperatorServer', () => buildOperatorServer(options))
  app.decorateRequest('user', null)
  app.decorateRequest('traced', null)
  app.decorateRequest('client')
  // The only parser: the route decides what a content type means.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    const { bodyLimit: bytesMax } = request.routeOptions
    return decodeBody(request, await readBody(payload, { bytesMax, msMax: limits.requestMsMax }))
  })
  app.setErrorHandler((error, _request, reply) => responder.fail(reply, error))
  app.setNotFoundHandler(() => {
    throw new ScanError('ROUTE_NOT_FOUND', 'no operation has this path')
  })
  const preflight = preflightHeaders(options.routes)
  // Hooks that wait for nothing call back: a promise each is a tenth of what a lookup costs.
  app.addHook('onRequest', (request, reply, done) => {
    request.client = clients.of(request.raw)
    const ambiguity = ambiguityOf(request.raw)
    if (ambiguity !== null) {
      reply.header('connection', 'close')
      throw ambiguity
    }
    // Not in the specification: a preflight costs no units, nor does a malformed URL, which the router refuses. An
    // answer to either is as cheap as a refusal, and connections are limited.
    if (request.method === 'OPTIONS')
      return void responder.send(reply, { status: 204, headers: preflight, body: null })
    const { route } = request.routeOptions.config
    // Probes are answered until the end, so that a busy process does not look dead.
    if (route?.cost !== 0) {
      if (isClosing) throw new ScanError('NOT_READY', 'the process is stopping')
      request.client.spend(admissionUnits(route))
    }
    assertKnownMethod(request.method)
    enqueue(shedder, request, done)
  })
  observe(app, options)
  if (metrics !== undefined && options.hasOperatorServer !== true) serveMetrics(app, metrics)
  const endUnused = trackUnused(app.server)
  app.addHook('preClose', async () => {
    isClosing = true
    endUnused()
    closeWithin(app.server, { ms: limits.drainMsMax, clock, signal: closed.signal })
  })
  app.addHook('onClose', async () => closed.abort())

  const prefixes = ['', ...(options.prefix === null ? [] : [options.prefix])]
  for (const prefix of prefixes) mountRoutes(app, prefix, options, limits.handlerMsMax)
  mountDocuments(app, prefixes, options.documents ?? {})
  return app
}

/** The request continues when the load shedder starts it, unless it is refused. */
function enqueue(
  shedder: LoadShedder,
  { client, raw: { socket }, routeOptions }: FastifyRequest,
  done: (refusal?: Error) => void,
): void {
  shedder.enqueue({
    sender: client,
    isProbe: routeOptions.config.route?.cost === 0,
    unreadSinceMs: unreadSinceMs(socket),
    isGone: () => socket.destroyed || socket.writableEnded,
    start: (refusal) => (refusal === null ? done() : done(refusal)),
  })
}

/** The operator's server: health and metrics, with queues and limits of their own. */
function buildOperatorServer<R extends RouteTable, User>(options: ServerOptions<R, User>) {
  const { metrics, prefix, logger, clock, commonHeaders } = options
  const isHealth = ([operation]: readonly [string, unknown]) =>
    Object.hasOwn(healthRoutes, operation)
  const routes = Object.fromEntries(Object.entries<RouteDef>(options.routes).filter(isHealth))
  const handlers = options.handlers as Handlers<RouteTable>
  const shared = { prefix, ...(logger && { logger }), ...(clock && { clock }) }
  const headers = commonHeaders && { commonHeaders }
  const server = buildServer<RouteTable>({
    ...shared,
    ...headers,
    rateLimit: null,
    routes,
    handlers,
  })
  if (metrics !== undefined) serveMetrics(server, metrics)
  return server
}

function createInstance<Routes extends RouteTable, User>(
  options: ServerOptions<Routes, User>,
  limits: HttpLimits,
  responder: Responder,
  serverFactory: (listener: RequestListener) => Server,
): FastifyInstance {
  const drawId = createRequestIds()
  return Fastify({
    ...(options.logger && { loggerInstance: withoutChildren(options.logger) }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => givenRequestId(headers) ?? drawId(),
    bodyLimit: limits.bodyBytesMax,
    serverFactory,
    // Fastify would answer with a body of its own; the onRequest hook does it with ours.
    return503OnClosing: false,
    routerOptions: {
      // D-3: `//v0/...` is what existing clients send.
      ignoreDuplicateSlashes: true,
      maxParamLength: limits.headerBytesMax,
      querystringParser: parseQuery,
    },
    // Routes check their schemas themselves. Without these, Fastify loads its compilers, a tenth of the time of a start.
    schemaController: {
      compilersFactory: { buildValidator: unusedCompiler, buildSerializer: unusedCompiler },
    },
    frameworkErrors: (error, _request, reply) => void responder.fail(reply, error),
    clientErrorHandler: answerClientError,
  })
}

function unusedCompiler(): never {
  throw new Error('no route gives its schemas to Fastify')
}
