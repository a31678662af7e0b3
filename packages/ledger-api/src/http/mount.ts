/**
 * The ledger interface (`/v2`, D-27) as a scope of its own in a server: with decoders and error forms of its own, and
 * the stages of `packages/server`. What leaves each stage (docs/upstream.md §L3.1, §L7.3):
 *   path            404 `{"errors": […], …}`; another method: 405 as text
 *   rate budget     429 RATE_LIMITED (D-33)
 *   large body      authentication before it is read, as below
 *   body            413, or 408 after 20 s, as text
 *   decoding        400 as text, with the path of the member: query, then body, then the form of the token
 *   authentication  401, 403, redacted
 *   handler         the operation's own errors; anything else is 500, redacted
 */
import type { IncomingMessage } from 'node:http'
import { COST_LOOKUP, type LedgerRouteDef, type RouteTable, validatorOf } from '@quorumscan/api'
import { assert } from '@quorumscan/base'
import { LedgerDecodeError, LedgerError } from '@quorumscan/errors'
import { traceIdOf, traceparentOf } from '@quorumscan/runtime'
import { chargeForJson, parseJsonWithBigInts, refuseOtherMethods } from '@quorumscan/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import type { LedgerAuthenticate } from '../callers.ts'
import { BYTES_TYPE, JSON_TYPE, pathNotFound, toLedgerRefusal } from './answers.ts'
import { compileDecoder } from './decode.ts'
import type { LedgerHandler, LedgerHandlers, LedgerRequest } from './handler.ts'

/** D-27: bodies of the ledger interface. */
const BODY_BYTES_MAX = 8 * 1024 * 1024
/** The size of a body that is read before authentication. */
const ANONYMOUS_BYTES_MAX = 256 * 1024
/** Twice what bodies of other interfaces have: these may be eight times as long. */
const BODY_MS_MAX = 20_000
/** Parsing takes up to a microsecond each; a command that fits into an entry has a few thousand. */
export const LEDGER_VALUES_MAX = 32_768
/** §L3.2: what takes longer is answered 503. */
const LEDGER_REQUEST_MS_MAX = 20_000
const PREFIX = '/v2'

type LedgerMount<Routes extends RouteTable<LedgerRouteDef>> = {
  readonly routes: Routes
  readonly handlers: LedgerHandlers<NoInfer<Routes>>
  /** Operations that are answered 501, such as `POST /v2/dars`. */
  readonly refused?: readonly string[]
  readonly authenticate: LedgerAuthenticate
  /** `participant` in the context of errors. */
  readonly participant: string
  /** The second mount point, such as `/api/validator`, in addition to the root (D-3); null for none. */
  readonly prefix: string | null
  /** Headers of every answer and every error. Must not throw. */
  readonly headers?: () => Readonly<Record<string, string>>
}

/** Adds the scope to a server that `buildServer` made and that does not listen yet. */
export function mountLedger<Routes extends RouteTable<LedgerRouteDef>>(
  app: FastifyInstance,
  mount: LedgerMount<Routes>,
): void {
  const { participant, headers = () => ({}) } = mount
  const { responder, readBody } = app.stages
  const read = (body: IncomingMessage) =>
    readBody(body, { bytesMax: BODY_BYTES_MAX, msMax: BODY_MS_MAX })
  const mountIn = async (scope: FastifyInstance) => {
    scope.removeAllContentTypeParsers()
    // D-5: the body is read as JSON, whatever its content type.
    scope.addContentTypeParser('*', (_request: FastifyRequest, payload: IncomingMessage) =>
      read(payload),
    )
    const fail = (reply: FastifyReply, error: unknown, more: Readonly<Record<string, string>>) =>
      responder.fail(reply, error, {
        headers: { ...headers(), ...more },
        refusal: toLedgerRefusal(error, { traceId: traceId(reply.request), participant }),
      })
    scope.setErrorHandler((error, _request, reply) => fail(reply, error, {}))
    scope.setNotFoundHandler(({ raw }, reply) => {
      const refusal = pathNotFound(raw)
      return responder.send(reply, { ...refusal, headers: { ...headers(), ...refusal.headers } })
    })
    const methodsByUrl = new Map<string, string[]>()
    for (const operation of mount.refused ?? []) {
      const [method = '', path = ''] = operation.split(' ')
      const url = urlOf(path)
      methodsByUrl.set(url, [...(methodsByUrl.get(url) ?? []), method])
      scope.route({
        method,
        url,
        async onRequest({ headers }) {
          await mount.authenticate({ authorization: headers.authorization ?? null, auth: 'user' })
          throw new LedgerError('UNSUPPORTED_OPERATION', `this participant has no ${operation}`)
        },
        handler: async () => {},
      })
    }
    for (const route of Object.values<LedgerRouteDef>(mount.routes)) {
      const url = urlOf(route.path)
      methodsByUrl.set(url, [...(methodsByUrl.get(url) ?? []), route.method])
      const handler: LedgerHandler<LedgerRouteDef> | undefined = mount.handlers[route.operationId]
      assert(handler !== undefined, `${route.operationId} has no handler`)
      const { response } = route
      const contentType = response === 'bytes' ? BYTES_TYPE : JSON_TYPE
      const authenticate = callerOf(route, mount.authenticate)
      scope.route({
        method: route.method,
        url,
        bodyLimit: BODY_BYTES_MAX,
        onRequest: async (request) => {
          if (isLarge(request.raw)) await authenticate(request)
        },
        handler: app.stages.bind<Decoded>({
          operationId: route.operationId,
          decode: decoderOf(route, authenticate, read),
          // What is not known before is paid for afterwards.
          unitsOf: () => route.cost ?? COST_LOOKUP,
          isWaiting: route.waits ?? false,
          isUnknown: route.isList ?? false,
          async handle(input, call) {
            const countRows = (rows: number) => call.countRows(rows)
            const pause = () => call.pause()
            const body = await handler({ ...input, signal: call.signal, countRows, pause })
            if (body instanceof Uint8Array) call.countBytes(body.byteLength)
            return { headers: { 'content-type': contentType, ...headers() }, body }
          },
          isAnswer: (body) => response !== 'bytes' && validatorOf(response).Check(body),
          msMax: route.handlerMsMax ?? LEDGER_REQUEST_MS_MAX,
        }),
      })
    }
    for (const [url, methods] of methodsByUrl) refuseOtherMethods(scope, url, methods, fail)
  }
  for (const prefix of ['', ...(mount.prefix === null ? [] : [mount.prefix])])
    void app.register(mountIn, { prefix: `${prefix}${PREFIX}` })
}

/** The path below the prefix, as Fastify writes it. */
function urlOf(path: string): string {
  return path.slice(PREFIX.length).replace(/\{(\w+)\}/g, ':$1')
}

/** The id by which errors name the request: of the caller's trace, else the request's own. */
function traceId(request: FastifyRequest): string {
  return traceIdOf(request.headers) ?? request.id
}

/** A large body is read only after authentication. A small one is decoded first: decoding errors come before 401. */
function isLarge({ headers }: IncomingMessage): boolean {
  const length = headers['transfer-encoding'] === undefined ? (headers['content-length'] ?? 0) : NaN
  return !(Number(length) <= ANONYMOUS_BYTES_MAX)
}

function callerOf({ auth }: LedgerRouteDef, authenticate: LedgerAuthenticate) {
  return async ({ headers }: FastifyRequest) =>
    auth === 'none'
      ? null
      : await authenticate({ authorization: headers.authorization ?? null, auth })
}

type Decoded = Omit<LedgerRequest<LedgerRouteDef>, 'signal' | 'countRows' | 'pause'>

/** Makes of a request what its handler receives, except the signal. */
function decoderOf(
  route: LedgerRouteDef,
  authenticate: ReturnType<typeof callerOf>,
  read: (request: IncomingMessage) => Promise<Buffer>,
) {
  const decodeParams = compileParameters(route.params, 'path')
  const decodeQuery = compileParameters(route.query, 'query')
  const decodeBody = route.body === undefined ? null : compileDecoder(route.body, 'body')
  // Upstream has a GET with a body, which the parser leaves alone.
  const isUnread = route.method === 'GET' && decodeBody !== null
  return async (request: FastifyRequest): Promise<Decoded> => {
    const params = decodeParams(request.params as Readonly<Record<string, unknown>>)
    const query = decodeQuery(request.query as Readonly<Record<string, unknown>>)
    const bytes = (isUnread ? await read(request.raw) : request.body) as Buffer | undefined
    if (decodeBody !== null && bytes !== undefined) chargeForJson(request.client, bytes)
    const isEmpty = bytes === undefined || bytes.byteLength === 0
    if (decodeBody !== null && isEmpty) throw new LedgerDecodeError('body: must be an object')
    const body = isEmpty ? undefined : decodeBody?.(parseJsonWithBigInts(bytes, LEDGER_VALUES_MAX))
    return {
      params: params as never,
      query: query as never,
      body: body as never,
      caller: (await authenticate(request)) as never,
      traceId: traceId(request),
      traceparent: traceparentOf(request.headers),
    }
  }
}

function compileParameters(schema: TObject | undefined, place: 'path' | 'query') {
  const decoders = Object.entries(schema?.properties ?? {}).map(([name, member]) => {
    const isList = 'type' in member && member.type === 'array'
    return [name, compileDecoder(member, `${place} parameter ${name}`), isList] as const
  })
  return (parameters: Readonly<Record<string, unknown>>) => {
    const given = decoders.filter(
      ([name]) => Object.hasOwn(parameters, name) && parameters[name] !== undefined,
    )
    return Object.fromEntries(
      given.map(([name, decode, isList]) => {
        const value = parameters[name]
        // A list of one value is written as the value.
        return [name, decode(isList && !Array.isArray(value) ? [value] : value)]
      }),
    )
  }
}
