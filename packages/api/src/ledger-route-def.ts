/**
 * What a route of the ledger interface (`/v2`) is. It differs from `RouteDef`: bodies are decoded
 * leniently (docs/upstream.md §L1.1), and errors have a form of their own (§L7).
 */
import type { Static, TObject, TSchema } from 'typebox'
import type { PartOf } from './route-def.ts'

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
  /** How long the operation may take, ms; without it `LEDGER_REQUEST_MS_MAX` of `packages/server`. */
  readonly handlerMsMax?: number
}

export type LedgerRouteTable = { readonly [operationId: string]: LedgerRouteDef }

export type LedgerParamsOf<Route extends LedgerRouteDef> = PartOf<Route['params']>
export type LedgerQueryOf<Route extends LedgerRouteDef> = PartOf<Route['query']>
export type LedgerBodyOf<Route extends LedgerRouteDef> = Route['body'] extends TSchema
  ? Static<Route['body']>
  : undefined
export type LedgerResponseOf<Route extends LedgerRouteDef> = Static<Route['response']>
