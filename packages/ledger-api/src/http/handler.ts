/** What a handler of the ledger interface is given and what it returns. */
import type {
  BodyOf,
  LedgerRouteDef,
  ledgerRoutes,
  ParamsOf,
  QueryOf,
  ResponseOf,
  RouteTable,
} from '@quorumscan/api'
import type { Caller } from '../callers.ts'

export type LedgerRequest<Route extends LedgerRouteDef, Caller> = {
  readonly params: ParamsOf<Route>
  readonly query: QueryOf<Route>
  readonly body: BodyOf<Route>
  /** What `authenticate` returned; null where the route asks for nobody. */
  readonly caller: Route['auth'] extends 'none' ? null : Caller
  /** Of errors. */
  readonly traceId: string
  /** The caller's W3C trace context, null for none that is well-formed. */
  readonly traceparent: string | null
  /** Aborts when the client has gone away, and when the handler has taken too long. */
  readonly signal: AbortSignal
}

/**
 * Returns a value of the declared shape, or JSON bytes that are ready to send, which nothing checks.
 * Refusals are thrown: `LedgerError`, `LedgerDecodeError`, or a `ScanError` of the parts below.
 */
export type LedgerHandler<Route extends LedgerRouteDef, Caller> = (
  request: LedgerRequest<Route, Caller>,
) => Promise<ResponseOf<Route> | Uint8Array>

/** One handler for every route of a table: a missing one does not compile. */
export type LedgerHandlers<Routes extends RouteTable<LedgerRouteDef>, Caller> = {
  readonly [Id in keyof Routes]: LedgerHandler<Routes[Id], Caller>
}

type Routes = typeof ledgerRoutes
export type AllHandlers = LedgerHandlers<Routes, Caller>

/** The handlers of the operations with these tags. */
export type LedgerHandlersOf<Tag extends Routes[keyof Routes]['tag']> = Pick<
  AllHandlers,
  { [Id in keyof Routes]: Routes[Id]['tag'] extends Tag ? Id : never }[keyof Routes]
>
