/**
 * The HTTP server of every process: binds a table of routes to its handlers.
 *
 * The life of a request, with the error that leaves each stage:
 *   connection      fails at TLS: no answer; slow: REQUEST_TIMEOUT; no HTTP: MALFORMED_REQUEST; no place: OVERLOADED, but for probes
 *   path            MALFORMED_REQUEST, ROUTE_NOT_FOUND, METHOD_NOT_ALLOWED
 *   closing?        NOT_READY
 *   budget          RATE_LIMITED (D-33), OVERLOADED
 *   authentication  UNAUTHENTICATED, PERMISSION_DENIED
 *   body            BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_BODY; slow: REQUEST_TIMEOUT; long: RATE_LIMITED
 *   validation      INVALID_ARGUMENT, or the member's own code (D-7)
 *   rest of budget  RATE_LIMITED
 *   handler         what the route declares; anything else is INTERNAL, with the reason in the log
 */
import type { IncomingMessage } from 'node:http'
import { healthRoutes, type RouteDef, type RouteTable } from '@quorumscan/api'
import { assert, type Clock, createSystemClock, type Random, systemRandom } from '@quorumscan/base'
import type { ProxiesConfig } from '@quorumscan/config'
import { PLAIN_CONNECTIONS } from '@quorumscan/config'
import { ScanError } from '@quorumscan/errors'
import type { Certificate, Logger, Metrics, Span, Tracer } from '@quorumscan/runtime'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { admissionUnits, bindHandler } from './bind-handler.ts'
import { installBodyParser } from './body-parser.ts'
import { type Client, createClients, type RateLimit } from './client.ts'
import { answerClientError } from './client-errors.ts'
import { trackUnused } from './connections.ts'
import { preflightHeaders } from './cors.ts'
import { createDeadlines, type Deadlines } from './deadlines.ts'
import { type Documents, mountDocuments } from './documents.ts'
import { createFailures, type Failures } from './failures.ts'
import type { Handler, Handlers } from './handler.ts'
import { measureAnswers, serveMetrics } from './http-metrics.ts'
import { createHttpServer, isForProbesOnly, waitedMs } from './http-server.ts'
import { defaultLimits, type HttpLimits } from './limits.ts'
import { createOrigins, type Origins } from './origins.ts'
import { parseQuery } from './query-parser.ts'
import { createRequestIds, givenRequestId } from './request-id.ts'
import { createRequestLoggers } from './request-logger.ts'
import { createResponder, type Responder } from './responder.ts'
import { createWorkInHand, type WorkInHand } from './work-in-hand.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What `authenticate` returned, or null. */
    user: unknown
    /** The span of the request, where requests are traced. */
    traced: Span | null
    /** Set before anything else looks at the request. */
    client: Client
  }
  interface FastifyInstance {
    /** Whose budget a request is counted on that is none of fastify's. */
    clientOf(request: IncomingMessage): Client
    readonly failures: Failures
    buildOperatorServer(): FastifyInstance
  }
}

/** Who sends the request. @throws {ScanError} UNAUTHENTICATED or PERMISSION_DENIED. */
export type Authenticate<User> = (request: {
  /** The header as it came. */
  readonly authorization: string | null
  readonly auth: 'user' | 'admin'
}) => Promise<User>

/** What `buildServer` gives; named so that apps need not know whose server it is. */
export type HttpServer = FastifyInstance

export type ServerOptions<Routes extends RouteTable, User> = {
  readonly routes: Routes
  readonly handlers: Handlers<NoInfer<Routes>, NoInfer<User>>
  /** The second mount point, such as `/api/scan`, beside the root (D-3); null for none. */
  readonly prefix: string | null
  /** Needed as soon as one route asks for a user; peers are known by `rateLimit`. */
  readonly authenticate?: Authenticate<User>
  /** Units a second for each client (D-33); null for no limit. */
  readonly rateLimit: RateLimit | null
  /** Nothing is logged without it. */
  readonly logger?: Logger
  /** Where every answer is measured; `/metrics` serves it, or that of the operator's server. */
  readonly metrics?: Metrics
  readonly hasOperatorServer?: boolean
  /** Served below each mount point, in no route table: no client should be generated from their paths. */
  readonly documents?: Documents
  /** Makes a span of every request. */
  readonly tracer?: Tracer | null
  /** Headers of every answer and every error, such as the head (D-10). Must not throw. */
  readonly head?: () => Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly random?: Random
  readonly limits?: Partial<HttpLimits>
  /** By which it shows who it is, over TLS; null for none. */
  readonly certificate?: Certificate | null
  /** Reverse proxies in front of it; without them nobody's word counts for where a request comes from. */
  readonly proxies?: ProxiesConfig
}

/**
 * Builds the server: `listen({host, port})` starts it, `close()` answers what is under way and ends.
 *
 * @throws {AssertionError} If a route asks for a user and nothing authenticates.
 */
export function buildServer<Routes extends RouteTable, User = never>(
  options: ServerOptions<Routes, User>,
): FastifyInstance {
  const limits = { ...defaultLimits, ...options.limits }
  const clock = options.clock ?? createSystemClock()
  const failures = createFailures({ metrics: options.metrics, clock })
  let isClosing = false
  const responder = createResponder({
    head: options.head ?? (() => ({})),
    isClosing: () => isClosing,
    failures,
  })
  const origins = createOrigins(options.proxies ?? PLAIN_CONNECTIONS.proxies)
  const app = createInstance(options, { limits, clock, origins, responder })
  const clientOf = createClients({
    rateLimit: options.rateLimit,
    origins,
    clock,
  })
  const work = createWorkInHand(clock)

  const endUnused = trackUnused(app.server)
  const closed = new AbortController()
  const arrivals = createDeadlines({ clock, ms: limits.requestMsMax, signal: closed.signal })
  installBodyParser(app, arrivals)
  app.decorateRequest('user', null)
  app.decorateRequest('traced', null)
  app.decorateRequest('client')
  app.decorate('clientOf', clientOf)
  app.decorate('failures', failures)
  app.decorate('buildOperatorServer', () => buildOperatorServer(options))
  app.setErrorHandler((error, _request, reply) => responder.sendError(reply, error))
  app.setNotFoundHandler((_request, reply) =>
    responder.sendError(reply, new ScanError('ROUTE_NOT_FOUND', 'no operation has this path')),
  )
  const preflight = preflightHeaders(options.routes)
  // Hooks that wait for nothing call back: a promise each is a tenth of what a lookup costs.
  app.addHook('onRequest', (request, reply, done) => {
    // Spec silent: a preflight costs no units, nor does a URL that is none (which gets no further than the
    // router). Answering either is as cheap as refusing it, and connections are counted.
    if (request.method === 'OPTIONS') {
      responder.send(reply, { status: 204, headers: preflight, body: null })
      return
    }
    const { route } = request.routeOptions.config
    request.client = clientOf(request.raw)
    // Probes are answered to the end and by anyone, so that nobody takes a busy process for a dead one.
    if (route?.cost !== 0) {
      if (isClosing) throw new ScanError('NOT_READY', 'the process is stopping')
      if (isForProbesOnly(request.raw.socket))
        throw new ScanError('OVERLOADED', 'there are too many connections', {
          retryAfterSeconds: 1,
        })
      request.client.admit(admissionUnits(route))
      work.admit(request.client, waitedMs(request.raw.socket))
    }
    done()
  })
  const { metrics, tracer } = options
  if (tracer != null) installTracer(app, tracer)
  if (metrics !== undefined) {
    measureAnswers(app, metrics)
    if (options.hasOperatorServer !== true) serveMetrics(app, metrics)
  }
  if (options.logger?.isLevelEnabled('debug') === true)
    app.addHook('onResponse', (request, reply, done) => {
      const path = request.url.split('?', 1)[0]
      const { statusCode: status, elapsedTime: ms } = reply
      request.log.debug(
        { method: request.method, path, status, ms, client: request.client?.key },
        'answered',
      )
      done()
    })
  app.addHook('preClose', async () => {
    isClosing = true
    endUnused()
    const drain = clock.delay(limits.drainMsMax, closed.signal)
    // Rejects when everything has ended in time.
    drain.then(() => app.server.closeAllConnections()).catch(() => {})
  })
  app.addHook('onClose', async () => closed.abort())

  const deadlines = createDeadlines({ clock, ms: limits.handlerMsMax, signal: closed.signal })
  const prefixes = prefixesOf(options)
  for (const prefix of prefixes) mount(app, prefix, { ...options, responder, deadlines, work })
  mountDocuments(app, prefixes, options.documents ?? {})
  return app
}

/** Below which every route is mounted. */
function prefixesOf({ prefix }: { readonly prefix: string | null }): readonly string[] {
  return ['', ...(prefix === null ? [] : [prefix])]
}

/** For whoever runs the process: its health, and what it measures, whoever else keeps it busy. */
function buildOperatorServer<Routes extends RouteTable, User>({
  metrics,
  prefix,
  logger,
  clock,
  head,
  ...options
}: ServerOptions<Routes, User>): FastifyInstance {
  const isHealth = ([operation]: readonly [string, unknown]) =>
    Object.hasOwn(healthRoutes, operation)
  const server = buildServer<RouteTable>({
    ...{ prefix, rateLimit: null },
    routes: Object.fromEntries(Object.entries<RouteDef>(options.routes).filter(isHealth)),
    handlers: options.handlers as Handlers<RouteTable>,
    ...(logger && { logger }),
    ...(clock && { clock }),
    ...(head && { head }),
  })
  if (metrics !== undefined) serveMetrics(server, metrics)
  return server
}

function createInstance<Routes extends RouteTable, User>(
  options: ServerOptions<Routes, User>,
  parts: {
    readonly limits: HttpLimits
    readonly clock: Clock
    readonly origins: Origins
    readonly responder: Responder
  },
): FastifyInstance {
  const { limits, clock, origins, responder } = parts
  const drawId = createRequestIds(options.random ?? systemRandom)
  return Fastify({
    ...(options.logger === undefined
      ? {}
      : { loggerInstance: createRequestLoggers(options.logger as FastifyBaseLogger) }),
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    genReqId: ({ headers }) => givenRequestId(headers) ?? drawId(),
    bodyLimit: limits.bodyBytesMax,
    serverFactory: (listener) =>
      createHttpServer(
        {
          ...{ limits, clock, origins, prefixes: prefixesOf(options) },
          certificate: options.certificate ?? null,
        },
        listener,
      ),
    // Fastify would answer with a body of its own; the onRequest hook does it with ours.
    return503OnClosing: false,
    routerOptions: {
      // D-3: `//v0/...` is what existing clients send.
      ignoreDuplicateSlashes: true,
      maxParamLength: limits.headerBytesMax,
      querystringParser: parseQuery,
    },
    frameworkErrors: (error, _request, reply) => {
      responder.sendError(reply, error)
    },
    clientErrorHandler: answerClientError,
  })
}

function installTracer(app: FastifyInstance, tracer: Tracer): void {
  app.addHook('onRequest', (request, _reply, done) => {
    request.traced = tracer.start({
      kind: 'server',
      name: request.routeOptions.config.route?.operationId ?? 'other',
      within: request.headers,
      attributes: { 'quorumscan.request_id': request.id },
    })
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    request.traced?.end({ status: reply.statusCode })
    done()
  })
}

type MountOptions<Routes extends RouteTable, User> = Pick<
  ServerOptions<Routes, User>,
  'routes' | 'handlers' | 'authenticate'
> & {
  readonly responder: Responder
  readonly deadlines: Deadlines
  readonly work: WorkInHand
}

function mount<Routes extends RouteTable, User>(
  app: FastifyInstance,
  prefix: string,
  options: MountOptions<Routes, User>,
): void {
  const methodsByUrl = new Map<string, string[]>()
  for (const route of Object.values<RouteDef>(options.routes)) {
    const url = prefix + route.path.replace(/\{(\w+)\}/g, ':$1')
    methodsByUrl.set(url, [...(methodsByUrl.get(url) ?? []), route.method])
    const handler = options.handlers[route.operationId] as Handler<RouteDef, unknown> | undefined
    assert(handler !== undefined, `${route.operationId} has no handler`)
    app.route({
      method: route.method,
      url,
      config: { route },
      ...(route.bodyBytesMax === undefined ? {} : { bodyLimit: route.bodyBytesMax }),
      onRequest: authenticator(route, options.authenticate),
      handler: bindHandler({ ...options, route, handler }),
    })
  }
  for (const [url, methods] of methodsByUrl)
    refuseOtherMethods(app, url, methods, options.responder)
}

function authenticator(route: RouteDef, authenticate: Authenticate<unknown> | undefined) {
  const { auth } = route
  if (auth === 'none') return []
  if (auth === 'peer')
    return [
      async ({ client }: { client: Client }) => {
        if (!client.isPeer)
          throw new ScanError(
            'UNAUTHENTICATED',
            'this is for peers, who show a token or a certificate',
          )
      },
    ]
  assert(authenticate !== undefined, `${route.operationId} needs authenticate`)
  return [
    async (request: { user: unknown; headers: { authorization?: string | undefined } }) => {
      const authorization = request.headers.authorization ?? null
      request.user = await authenticate({ authorization, auth })
    },
  ]
}

function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  methods: readonly string[],
  responder: Responder,
): void {
  const allowed = methods.includes('GET') ? ['HEAD', ...methods] : methods
  const others = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']
  app.route({
    method: others.filter((method) => !allowed.includes(method)),
    url,
    // Before the body is read.
    onRequest: async (_request, reply) =>
      responder.sendError(
        reply,
        new ScanError('METHOD_NOT_ALLOWED', `this path takes ${allowed.join(', ')}`),
        { allow: allowed.join(', ') },
      ),
    handler: async () => {},
  })
}
