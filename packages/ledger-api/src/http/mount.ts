/**
 * The ledger interface (`/v2`, D-27) as a scope of its own in a server: nothing of D-6 is in it.
 *
 * The life of a request, with what leaves each stage (docs/upstream.md §L3.1, §L7.3):
 *   path            404 `{"errors": […], …}`
 *   budget          429 RATE_LIMITED (D-33)
 *   much to read    authentication, as below
 *   body            413, or 408 after 20 s, as text
 *   decoding        400 as text, with the path of the member: query, then body, then the form of the token
 *   authentication  401, 403, redacted
 *   handler         the operation's own errors; anything else is 500, redacted
 */
import type { IncomingMessage } from 'node:http'
import type { LedgerRouteDef, LedgerRouteTable } from '@quorumscan/api'
import { assert, type Clock, createSystemClock, within } from '@quorumscan/base'
import { LedgerDecodeError, ScanError } from '@quorumscan/errors'
import { traceIdOf, traceparentOf } from '@quorumscan/runtime'
import {
  chargeForJson,
  corsHeaders,
  createDeadlines,
  parseExactJson,
  readBody,
  requireWellFormedQuery,
} from '@quorumscan/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { JSON_TYPE, timeoutFailure, toLedgerFailure } from './answers.ts'
import { compileDecoder } from './decode.ts'
import type { LedgerHandler, LedgerHandlers } from './handler.ts'

/** D-27: bodies of the ledger interface. */
const BODY_BYTES_MAX = 8 * 1024 * 1024
/** Of a body that is read before its sender is known. */
const STRANGER_BYTES_MAX = 256 * 1024
/** Twice what bodies of other interfaces have: these may be eight times as long. */
const BODY_MS_MAX = 20_000
/** Parsing takes up to a microsecond each; a command that fits into an entry has a few thousand. */
export const LEDGER_VALUES_MAX = 32_768
/** §L3.2: what takes longer is answered 503 by the HTTP server. */
const LEDGER_REQUEST_MS_MAX = 20_000
const PREFIX = '/v2'

/** Who sends the request. @throws {LedgerDecodeError} If the header is malformed. @throws {LedgerError} 401, 403. */
export type LedgerAuthenticate<Caller> = (request: {
  /** The header as it came, null for none. */
  readonly authorization: string | null
  readonly auth: 'user' | 'admin'
}) => Promise<Caller>

export type LedgerMount<Routes extends LedgerRouteTable, Caller> = {
  readonly routes: Routes
  readonly handlers: LedgerHandlers<NoInfer<Routes>, NoInfer<Caller>>
  readonly authenticate: LedgerAuthenticate<Caller>
  /** `participant` in the context of errors. */
  readonly participant: string
  /** The second mount point, such as `/api/validator`, beside the root (D-3); null for none. */
  readonly prefix: string | null
  /** Headers of every answer and every error. Must not throw. */
  readonly headers?: () => Readonly<Record<string, string>>
  readonly clock?: Clock
}

/** Adds the scope to a server that `buildServer` made and that does not listen yet. */
export function mountLedger<Routes extends LedgerRouteTable, Caller>(
  app: FastifyInstance,
  mount: LedgerMount<Routes, Caller>,
): void {
  const { participant } = mount
  let isClosing = false
  const clock = mount.clock ?? createSystemClock()
  const closed = new AbortController()
  app.addHook('onClose', async () => closed.abort())
  const deadlines = createDeadlines({ clock, ms: BODY_MS_MAX, signal: closed.signal })
  const read = (body: IncomingMessage) => readBody(body, { bytesMax: BODY_BYTES_MAX, deadlines })
  const send = (
    reply: FastifyReply,
    answer: {
      readonly status: number
      readonly type: string
      readonly headers: Readonly<Record<string, string>>
      readonly body: Uint8Array | string
    },
  ) => {
    reply.code(answer.status).headers({
      ...corsHeaders,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': reply.request.id,
      ...mount.headers?.(),
      ...answer.headers,
    })
    // Else the client would keep the connection, and closing would wait for it.
    if (isClosing) reply.header('connection', 'close')
    return reply.type(answer.type).send(Buffer.from(answer.body as string))
  }

  const mountIn = async (scope: FastifyInstance) => {
    scope.addHook('preClose', async () => {
      isClosing = true
    })
    scope.removeAllContentTypeParsers()
    // D-5: whatever the type is said to be, it is read as JSON.
    scope.addContentTypeParser('*', (_request: FastifyRequest, payload: IncomingMessage) =>
      read(payload),
    )
    scope.setErrorHandler((error, request, reply) => {
      app.failures.note(error, request)
      return send(reply, toLedgerFailure(error, { traceId: traceId(request), participant }))
    })
    scope.setNotFoundHandler((request, reply) =>
      send(reply, {
        status: 404,
        type: JSON_TYPE,
        headers: {},
        body: JSON.stringify({
          errors: [`HttpMethod(${request.method}), uri: ${request.url}`],
          status: 404,
          ledgerApiError: null,
        }),
      }),
    )
    for (const route of Object.values<LedgerRouteDef>(mount.routes)) {
      const handler = mount.handlers[route.operationId] as
        | LedgerHandler<LedgerRouteDef, Caller>
        | undefined
      assert(handler !== undefined, `${route.operationId} has no handler`)
      const answer = bind({ route, handler, authenticate: mount.authenticate, clock, read })
      scope.route({
        method: route.method,
        url: route.path.slice(PREFIX.length).replace(/\{(\w+)\}/g, ':$1'),
        bodyLimit: BODY_BYTES_MAX,
        onRequest: async (request) => {
          if (route.auth === 'none' || !isMuch(request.raw)) return
          const authorization = request.headers.authorization ?? null
          await mount.authenticate({ authorization, auth: route.auth })
        },
        handler: async (request, reply) => {
          const body = await answer(request, reply)
          if (body !== 'late')
            return send(reply, { status: 200, type: JSON_TYPE, headers: {}, body })
          app.failures.note(LATE, request)
          return send(reply, timeoutFailure())
        },
      })
    }
  }
  for (const prefix of ['', ...(mount.prefix === null ? [] : [mount.prefix])])
    void app.register(mountIn, { prefix: `${prefix}${PREFIX}` })
}

const LATE = new ScanError('DEPENDENCY_UNAVAILABLE', 'the operation took too long')

/** By which errors name the request: of the caller's trace, else the request's own id. */
function traceId(request: FastifyRequest): string {
  return traceIdOf(request.headers) ?? request.id
}

/** Whoever sends so much is known before it is read; anybody else learns first whether it decodes. */
function isMuch({ headers }: IncomingMessage): boolean {
  const length = headers['transfer-encoding'] === undefined ? (headers['content-length'] ?? 0) : NaN
  return !(Number(length) <= STRANGER_BYTES_MAX)
}

type Binding<Caller> = {
  readonly route: LedgerRouteDef
  readonly handler: LedgerHandler<LedgerRouteDef, Caller>
  readonly authenticate: LedgerAuthenticate<Caller>
  readonly clock: Clock
  /** The body of a request, of whatever method. */
  readonly read: (request: IncomingMessage) => Promise<Buffer>
}

/** The body of a 200, ready to send, or that there was none in time. */
function bind<Caller>(
  binding: Binding<Caller>,
): (request: FastifyRequest, reply: FastifyReply) => Promise<Uint8Array | string | 'late'> {
  const { route, handler, authenticate, read } = binding
  const decodeQuery = compileQuery(route)
  const decodeBody = route.body === undefined ? () => undefined : compileBody(route.body)
  const response = Compile(route.response)
  return async (request, reply) => {
    requireWellFormedQuery(request.query)
    const query = decodeQuery(request.query as Readonly<Record<string, unknown>>)
    // Upstream has a GET with a body, which the parser leaves alone.
    const isUnread = route.method === 'GET' && route.body !== undefined
    const bytes = isUnread ? await read(request.raw) : request.body
    if (route.body !== undefined && bytes !== undefined)
      chargeForJson(request.client, bytes as Buffer)
    const body = decodeBody(bytes as Buffer | undefined)
    const caller =
      route.auth === 'none'
        ? null
        : await authenticate({
            authorization: request.headers.authorization ?? null,
            auth: route.auth,
          })
    const value = await withinDeadline(binding, reply, (signal) =>
      handler({
        params: request.params as never,
        query: query as never,
        body: body as never,
        caller: caller as never,
        traceId: traceId(request),
        traceparent: traceparentOf(request.headers),
        signal,
      }),
    )
    if (value === 'late' || value instanceof Uint8Array) return value
    assert(response.Check(value), `${route.operationId} answers what it does not declare`)
    return JSON.stringify(value)
  }
}

function compileBody(schema: TSchema): (bytes: Buffer | undefined) => unknown {
  const decode = compileDecoder(schema, 'body')
  return (bytes) => {
    if (bytes === undefined || bytes.byteLength === 0)
      throw new LedgerDecodeError('body: must be an object')
    return decode(parseExactJson(bytes, LEDGER_VALUES_MAX))
  }
}

function compileQuery(
  route: LedgerRouteDef,
): (query: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>> {
  const parameters = Object.entries(route.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    decode: compileDecoder(schema, `query parameter ${name}`),
  }))
  return (query) =>
    Object.fromEntries(
      parameters.flatMap(({ name, decode }) => {
        const text = Object.hasOwn(query, name) ? query[name] : undefined
        return text === undefined ? [] : [[name, decode(text)]]
      }),
    )
}

/** Runs the handler with a signal that fires when the client goes away or the time is over. */
async function withinDeadline<T>(
  { route, clock }: Pick<Binding<unknown>, 'route' | 'clock'>,
  reply: FastifyReply,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T | 'late'> {
  const closed = new AbortController()
  const onClose = () => closed.abort()
  reply.raw.once('close', onClose)
  const timeoutMs = route.handlerMsMax ?? LEDGER_REQUEST_MS_MAX
  try {
    return await within({ clock, timeoutMs, signal: closed.signal }, run, (): 'late' => 'late')
  } finally {
    reply.raw.off('close', onClose)
  }
}
