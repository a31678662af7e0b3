/** Reads of the wallet. */
import type { Http } from '../http/http.ts'
import type { HttpRequest } from '../http/http-request.ts'
import { type Camel, toCamel } from '../platform/camel.ts'

/** Options of every call. */
export type CallOptions = {
  /** Aborts the call, which rejects with the signal's reason. A write may have taken effect. */
  readonly signal?: AbortSignal | undefined
  /** Timeout of the whole call, in ms. Default: that of the client. */
  readonly timeoutMs?: number
}

export type Query = NonNullable<HttpRequest['query']>
export type Check<T> = (body: unknown) => body is T

/** @throws {QuorumscanError} As the calls of the wallet. */
export async function readWallet<T>(
  http: Http,
  path: string,
  isValid: Check<T>,
  { signal, timeoutMs, query = {} }: CallOptions & { readonly query?: Query } = {},
): Promise<Camel<T>> {
  return toCamel(await http.call({ method: 'GET', path, query, signal, timeoutMs }, isValid))
}
