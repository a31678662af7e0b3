/** What a handler of the ledger interface is given and what it returns. */
import type {
  LedgerBodyOf,
  LedgerParamsOf,
  LedgerQueryOf,
  LedgerResponseOf,
  LedgerRouteDef,
  LedgerRouteTable,
} from '@quorumscan/api'

export type LedgerRequest<Route extends LedgerRouteDef, Caller> = {
  readonly params: LedgerParamsOf<Route>
  readonly query: LedgerQueryOf<Route>
  readonly body: LedgerBodyOf<Route>
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
) => Promise<LedgerResponseOf<Route> | Uint8Array>

/** One handler for every route of a table: a missing one does not compile. */
export type LedgerHandlers<Routes extends LedgerRouteTable, Caller> = {
  readonly [Id in keyof Routes]: LedgerHandler<Routes[Id], Caller>
}
