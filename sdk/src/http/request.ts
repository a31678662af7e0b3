/** A request to a validator and what came back, before anybody asks what it means. */

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Default `application/json`; `text/plain` where a browser should need no preflight (D-14). */
  readonly contentType?: 'text/plain'
  /** Whether a second time changes nothing more than the first. Default: for GET only. */
  readonly isSafe?: boolean | undefined
  /** Whether to send the token. Default true. */
  readonly isAuthenticated?: boolean
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  /** Which replies beside 2xx are answers, not failures. */
  readonly isAnswer?: (reply: HttpReply) => boolean
}

export type HttpReply = {
  readonly status: number
  header(name: string): string | null
  readonly text: string
}

/** Whether a second time changes nothing more than the first. */
export function isSafe(request: HttpRequest): boolean {
  return request.isSafe ?? request.method === 'GET'
}

/** For messages: `GET /v0/wallet/balance`. */
export function nameOf(request: HttpRequest): string {
  return `${request.method} ${request.path}`
}
