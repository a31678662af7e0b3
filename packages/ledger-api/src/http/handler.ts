/** What a handler of the ledger interface receives and what it returns. */
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

export type LedgerRequest<Route extends LedgerRouteDef> = {
  readonly params: ParamsOf<Route>
  readonly query: QueryOf<Route>
  readonly body: BodyOf<Route>
  /** Null if the route needs no token. */
  readonly caller: Route['auth'] extends 'none' ? null : Caller
  /** The id by which errors name the request. */
  readonly traceId: string
  /** The caller's W3C trace context; null if it sent none that is well-formed. */
  readonly traceparent: string | null
  /** Aborts when the client disconnects, and when the handler exceeds its time. */
  readonly signal: AbortSignal
  /** Counts rows that were read for the request: it pays for them afterwards (D-93). */
  readonly countRows: (rows: number) => void
  /** The request waits for news, until the returned function is called. */
  readonly pause: () => () => void
}

/**
 * Returns a value of the declared shape, or JSON bytes that are sent without a check.
 * Refusals are thrown: `LedgerError`, `LedgerDecodeError`, or a `ScanError` of a lower layer.
 */
export type LedgerHandler<Route extends LedgerRouteDef> = (
  request: LedgerRequest<Route>,
) => Promise<ResponseOf<Route> | Uint8Array>

/** One handler for every route of a table: a missing one does not compile. */
export type LedgerHandlers<Routes extends RouteTable<LedgerRouteDef> = typeof ledgerRoutes> = {
  readonly [Id in keyof Routes]: LedgerHandler<Routes[Id]>
}

type Routes = typeof ledgerRoutes

/** The handlers of the operations with these tags. */
export type LedgerHandlersOf<Tag extends Routes[keyof Routes]['tag']> = Pick<
  LedgerHandlers,
  { [Id in keyof Routes]: Routes[Id]['tag'] extends Tag ? Id : never }[keyof Routes]
>
