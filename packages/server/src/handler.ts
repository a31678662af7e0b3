/** Parameters and results of handlers, typed by the declaration of the route. */
import type {
  BodyOf,
  HeadersOf,
  ParamsOf,
  QueryOf,
  ResponseOf,
  RouteDef,
  RouteTable,
} from '@quorumscan/api'
import type { ScanError } from '@quorumscan/errors'
import type { Client } from './client.ts'

export type ApiRequest<Route extends RouteDef, User> = {
  readonly params: ParamsOf<Route>
  readonly query: QueryOf<Route>
  /** The declared ones, decoded. */
  readonly headers: HeadersOf<Route>
  readonly body: BodyOf<Route>
  /** The URL as requested, with the mount point. */
  readonly url: string
  /** What `authenticate` returned; null where the route needs no user. */
  readonly user: Route['auth'] extends 'none' ? null : User
  /** Any header as it came, or null. `name` is lower-case. */
  header(name: string): string | null
  /** The sender: an address, or a peer. */
  readonly client: Pick<Client, 'key' | 'network' | 'address' | 'isPeer'>
  readonly requestId: string
  /** Headers for requests made on behalf of this one: its id, and its trace where requests are traced. */
  readonly forward: Readonly<Record<string, string>>
  /** Aborts when the client leaves, and when the handler has taken too long; a stream outlives it. */
  readonly signal: AbortSignal
  /** Counts rows that were read for the request: it pays for them afterwards, beyond its declared cost (D-93). */
  countRows(rows: number): void
  /** Waits for an event, without work for the process: other requests are admitted meanwhile. */
  waiting<T>(wait: () => Promise<T>): Promise<T>
  /** Waits for other machines: other requests of its network begin meanwhile. It is work of the process, as before. */
  waitingForNodes<T>(wait: () => Promise<T>): Promise<T>
}

/** The members of a request for waiting. The signal is created on demand: hardly any read waits. */
export type WaitingRequest = Pick<ApiRequest<RouteDef, never>, 'signal' | 'waiting'>

/** Other members of a request, with the way in which it waits. */
export function withWaitOf<T extends object>(request: WaitingRequest, rest: T): T & WaitingRequest {
  return {
    ...rest,
    get signal() {
      return request.signal
    },
    waiting: (wait) => request.waiting(wait),
  }
}

/**
 * An answer, or an error that carries headers (such as the offset of a 404).
 * An error without headers is simply thrown.
 */
export type Reply<Route extends RouteDef> =
  | {
      /** 200 unless given. */
      readonly status?: number
      /** The headers. With a `content-type`, the body has another form than JSON, as bytes. */
      readonly headers?: Readonly<Record<string, string>>
      /** A value of the declared shape, a stream, or JSON bytes that are ready to send and not checked. */
      readonly body: ResponseOf<Route> | Uint8Array
    }
  | { readonly error: ScanError; readonly headers: Readonly<Record<string, string>> }

export type Handler<Route extends RouteDef, User> = (
  request: ApiRequest<Route, User>,
) => Promise<Reply<Route>>

/** A handler for every route of a table: a missing one does not compile. */
export type Handlers<Routes extends RouteTable, User = never> = {
  readonly [Id in keyof Routes]: Handler<Routes[Id], User>
}
