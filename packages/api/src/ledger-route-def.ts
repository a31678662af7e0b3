/**
 * What a route of the ledger interface (`/v2`) is. It differs from `RouteDef`: bodies are decoded
 * leniently (docs/upstream.md §L1.1), and errors have a form of their own (§L7).
 */
import type { Static, TObject, TSchema } from 'typebox'

export type LedgerRouteDef = {
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** From the root on, with `{param}` for parameters. */
  readonly path: `/v2/${string}`
  /** One sentence for the OpenAPI document. */
  readonly summary: string
  readonly description?: string
  readonly tag: string
  readonly params?: TObject
  /** Integers and texts; what is given and does not decode is 400 as text. */
  readonly query?: TObject
  readonly body?: TSchema
  /** The body of a 200. */
  readonly response: TSchema
  /** `user`: a token of a known, active user. `admin`: who has ParticipantAdmin. */
  readonly auth: 'none' | 'user' | 'admin'
  /** Statuses of errors beyond 400, 401, 403, 413, 429, 500 and 503, for the document. */
  readonly errorStatuses?: readonly number[]
  /** How long the operation may take, ms; without it `LEDGER_REQUEST_MS_MAX` of `packages/http`. */
  readonly handlerMsMax?: number
}

export type LedgerRouteTable = { readonly [operationId: string]: LedgerRouteDef }

/** The decoded parts of a request; an empty record where none are declared. */
type PartOf<Schema> = Schema extends TSchema ? Static<Schema> : Record<never, never>

export type LedgerParamsOf<Route extends LedgerRouteDef> = PartOf<Route['params']>
export type LedgerQueryOf<Route extends LedgerRouteDef> = PartOf<Route['query']>
export type LedgerBodyOf<Route extends LedgerRouteDef> = Route['body'] extends TSchema
  ? Static<Route['body']>
  : undefined
export type LedgerResponseOf<Route extends LedgerRouteDef> = Static<Route['response']>

type Undeclared = Omit<LedgerRouteDef, 'operationId'>

/** Names each route by its key, which is its operationId. */
export function defineLedgerRoutes<
  const Routes extends { readonly [operationId: string]: Undeclared },
>(
  routes: Routes,
): { readonly [Id in keyof Routes & string]: Routes[Id] & { readonly operationId: Id } } {
  const named = Object.entries(routes).map(([operationId, route]) => [
    operationId,
    { ...route, operationId },
  ])
  // Object.entries loses the keys that the return type states.
  return Object.fromEntries(named) as never
}
