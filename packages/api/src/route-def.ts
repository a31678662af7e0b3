/**
 * The declaration of a route, from which request validation, response checks, the OpenAPI documents and the SDK's types
 * are derived. `packages/server` binds handlers to it, for `/v2` `packages/ledger-api`.
 *
 * A route passes these files, here the lookup of a name (CONTRIBUTING.md, "Add a route", has the steps):
 *   routes/scan.ts                                its row for the node; shapes are in `schemas/entries.ts`
 *   apps/scan/src/handlers/name-lookups.ts        its handler
 *   routes/scan-proxy.ts                          its row for the proxy, derived from that of the node
 *   packages/scan-proxy/src/operations.ts         the row from which the proxy's handler is made
 *   packages/reader/src/certified/node-request.ts its request in the SDK's reader
 *   sdk/src/names/names.ts                        its method in the SDK
 *   docs/specification.md                         its row
 *
 * How schemas are written:
 *   title        makes a schema a named component of the documents (`component`)
 *   description  every member has one; `about` gives one to a shared schema
 *   constraints  every constraint that the server enforces is in the schema. A rule with a code of its own (D-17) is
 *                checked by the handler and declared by `about(schema, text, {pattern})`; a text under `/v2` by any
 *                keyword but `format`; members that exclude each other by `not`
 *   pattern      a text that fails a pattern of `codeByPattern` gets the code listed there, any other INVALID_ARGUMENT
 *   default      makes a member optional; a default that the handler refuses makes it required
 */
import type { ErrorCode } from '@quorumscan/errors'
import type { Static, TObject, TSchema } from 'typebox'
import type { HeaderGroup } from './header-groups.ts'
import { mapMembers } from './openapi-schema.ts'

/** The parts of a request on which its cost may depend. */
export type CostInput = {
  readonly params: unknown
  readonly query: unknown
  readonly headers: unknown
  readonly body: unknown
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Common to routes under `/v0` and `/v2`. */
type AnyRoute = {
  readonly operationId: string
  readonly method: Method
  /** The path below the mount point. Each `{param}` is one path segment, decoded. */
  readonly path: `/${string}`
  /** One sentence for the OpenAPI document. */
  readonly summary: string
  /** What a caller must know in addition to the shapes. */
  readonly description?: string
  readonly tag: string
  readonly params?: TObject
  readonly query?: TObject
  /** A peer sends its token in `x-peer-token`, a user a JWT. `admin`: a user with ParticipantAdmin. */
  readonly auth: 'none' | 'peer' | 'user' | 'admin'
  /** It waits for the ledger: meanwhile it is no work in progress for the load shedder. */
  readonly waits?: true
}

/** A route under `/v0`, or of health. */
export type RouteDef = AnyRoute & {
  /** Request headers that the operation reads, lower-case. */
  readonly headers?: TObject
  /** Absent: a body is read and ignored. `bytes`: passed to the handler as it is, `application/octet-stream`. */
  readonly body?: TSchema | 'bytes'
  /** The body may be absent; it is then undefined. */
  readonly bodyOptional?: boolean
  /** Without it 1 MiB (D-7). */
  readonly bodyBytesMax?: number
  /** `text/plain` is read as JSON too (D-14), so that a browser needs no preflight. */
  readonly acceptsTextPlain?: boolean
  /** The body of a 200; null for an empty one. `bytes`: a stream, `application/octet-stream`. */
  readonly response: TSchema | 'bytes' | null
  /** The body of a 200 in other forms, by the media type that the caller accepts. */
  readonly otherForms?: Readonly<Record<string, TSchema>>
  /** The body of a 503 in other forms than that of an error, by media type. */
  readonly unavailableForms?: Readonly<Record<string, TSchema>>
  readonly responseHeaders?: readonly HeaderGroup[]
  /** The codes in addition to those of every route. */
  readonly errors: readonly ErrorCode[]
  /** Units of D-33. Zero is never refused. */
  readonly cost: number | ((input: CostInput) => number)
}

/**
 * A route of the ledger interface (`/v2`): bodies and queries are decoded leniently (docs/upstream.md §L1.1), and errors
 * have a form of their own (§L7).
 */
export type LedgerRouteDef = AnyRoute & {
  readonly path: `/v2/${string}`
  readonly auth: 'none' | 'user' | 'admin'
  readonly body?: TSchema
  /** The body of a 200. `bytes`: `application/octet-stream`. */
  readonly response: TSchema | 'bytes'
  /** Statuses of errors beyond 400, 401, 403, 413, 429, 500 and 503, for the document. */
  readonly errorStatuses?: readonly (404 | 409 | 504)[]
  /** Units of D-33, in addition to those that follow from its work. Default: those of a lookup. */
  readonly cost?: number
  /** What it reads is known only when it was done. */
  readonly isList?: boolean
  /** How long the operation may take, ms; without it `LEDGER_REQUEST_MS_MAX` of `packages/ledger-api`. */
  readonly handlerMsMax?: number
}

export type RouteTable<Def = RouteDef> = { readonly [operationId: string]: Def }

/** A row of a table: the place of the route, such as `GET /v0/dso`, what it shares with others, and its own parts. */
export function route<const Path extends `/${string}`, const Shared, const Own>(
  place: `${Method} ${Path}`,
  shared: Shared,
  own: Own,
): Omit<Shared, keyof Own> & Own & { readonly method: Method; readonly path: Path } {
  const [method, path] = place.split(' ') as [Method, Path]
  return { ...shared, ...own, method, path }
}

/** Names each route by its key, which is its operationId. */
export function defineRoutes<
  const Routes extends RouteTable<
    Omit<RouteDef, 'operationId'> | Omit<LedgerRouteDef, 'operationId'>
  >,
>(
  routes: Routes,
): { readonly [Id in keyof Routes & string]: Routes[Id] & { readonly operationId: Id } } {
  // The keys that the return type states are lost.
  return mapMembers(routes, (route, operationId) => ({ ...route, operationId })) as never
}

/** Codes of a route, without repetition, and without those of missing routes. */
export function errorCodesOf(route: RouteDef): readonly ErrorCode[] {
  const takesInput = [route.params, route.query, route.headers, route.body].some(Boolean)
  const codes: ErrorCode[] = ['MALFORMED_REQUEST', 'INTERNAL', ...route.errors]
  if (takesInput) codes.push('INVALID_ARGUMENT')
  if (route.method !== 'GET') codes.push('BODY_TOO_LARGE')
  if (route.body !== undefined) codes.push('MALFORMED_BODY', 'UNSUPPORTED_MEDIA_TYPE')
  if (route.auth !== 'none') codes.push('UNAUTHENTICATED')
  if (route.auth === 'user' || route.auth === 'admin') codes.push('PERMISSION_DENIED')
  // Probes (cost 0) are answered to the end.
  if (route.cost !== 0) codes.push('RATE_LIMITED', 'OVERLOADED', 'NOT_READY')
  return [...new Set(codes)]
}

/** The decoded parameters of a part of a request; an empty record where none are declared. */
type PartOf<Schema> = Schema extends TSchema ? Static<Schema> : Record<never, never>

export type ParamsOf<Route extends Pick<RouteDef, 'params'>> = PartOf<Route['params']>
export type QueryOf<Route extends Pick<RouteDef, 'query'>> = PartOf<Route['query']>
export type HeadersOf<Route extends Pick<RouteDef, 'headers'>> = PartOf<Route['headers']>
// `TSchema` is so wide that a text fits it too: bytes come first.
export type BodyOf<Route extends Pick<RouteDef, 'body' | 'bodyOptional'>> =
  Route['body'] extends 'bytes'
    ? Uint8Array
    : Route['body'] extends TSchema
      ? Static<Route['body']> | (Route['bodyOptional'] extends true ? undefined : never)
      : undefined
/** The value of a 200; JSON bytes of the same shape are equivalent (see `packages/server`). */
export type ResponseOf<Route extends Pick<RouteDef, 'response'>> = Route['response'] extends 'bytes'
  ? AsyncIterable<Uint8Array>
  : Route['response'] extends TSchema
    ? Static<Route['response']>
    : null
