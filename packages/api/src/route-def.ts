/**
 * What a route is: the one declaration from which request validation, response checks, the OpenAPI
 * documents and the SDK's types are derived. Handlers are bound to it in `packages/server`.
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

/** What a handler is given, as far as the price of a request depends on it. */
export type CostInput = {
  readonly params: unknown
  readonly query: unknown
  readonly headers: unknown
  readonly body: unknown
}

export type RouteDef = {
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the mount point, with `{param}` for parameters: each is one path segment, decoded. */
  readonly path: `/${string}`
  /** One sentence for the OpenAPI document. */
  readonly summary: string
  /** What a caller must know beyond the shapes. */
  readonly description?: string
  readonly tag: string
  readonly params?: TObject
  readonly query?: TObject
  /** Request headers that the operation reads, lower-case. */
  readonly headers?: TObject
  /** Absent: a body is read and ignored. `bytes`: passed on unread, `application/octet-stream`. */
  readonly body?: TSchema | 'bytes'
  /** The body may be absent; it is then undefined. */
  readonly bodyOptional?: boolean
  /** Without it 1 MiB (D-7). */
  readonly bodyBytesMax?: number
  /** `text/plain` is read as JSON too (D-14), so that a browser needs no preflight. */
  readonly acceptsTextPlain?: boolean
  /** The body of a 200; null for an empty one. `bytes`: a stream, `application/octet-stream`. */
  readonly response: TSchema | 'bytes' | null
  /** The body of a 200 in other forms, by media type; of JSON's the caller accepts another. */
  readonly otherForms?: Readonly<Record<string, TSchema>>
  /** The body of a 503 in other forms than that of an error, by media type. */
  readonly unavailableForms?: Readonly<Record<string, TSchema>>
  readonly responseHeaders?: readonly HeaderGroup[]
  /** Beyond those that every route can answer. */
  readonly errors: readonly ErrorCode[]
  /** `peer` shows the token of one in `x-peer-token`, users a JWT. */
  readonly auth: 'none' | 'peer' | 'user' | 'admin'
  /** Units of D-33. Zero is never refused. */
  readonly cost: number | ((input: CostInput) => number)
}

export type RouteTable = { readonly [operationId: string]: RouteDef }

/** The decoded parameters of a part of a request; an empty record where none are declared. */
export type PartOf<Schema> = Schema extends TSchema ? Static<Schema> : Record<never, never>

export type ParamsOf<Route extends RouteDef> = PartOf<Route['params']>
export type QueryOf<Route extends RouteDef> = PartOf<Route['query']>
export type HeadersOf<Route extends RouteDef> = PartOf<Route['headers']>
// `TSchema` is so wide that a text fits it too: bytes come first.
export type BodyOf<Route extends RouteDef> = Route['body'] extends 'bytes'
  ? Uint8Array
  : Route['body'] extends TSchema
    ? Static<Route['body']> | (Route['bodyOptional'] extends true ? undefined : never)
    : undefined
/** The value of a 200; ready JSON bytes of the same shape are as good (see `packages/server`). */
export type ResponseOf<Route extends RouteDef> = Route['response'] extends 'bytes'
  ? AsyncIterable<Uint8Array>
  : Route['response'] extends TSchema
    ? Static<Route['response']>
    : null
