/** Requests to a validator, and what is known of them and of their replies without the code of refusals. */
export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Default `application/json`; `text/plain` if a browser should need no preflight (D-14). */
  readonly contentType?: 'text/plain'
  /** Whether a repeat changes nothing more than the first request. Default: for GET only. */
  readonly isSafe?: boolean | undefined
  /** Whether to send the token. Default true. */
  readonly isAuthenticated?: boolean
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  /** A longer answer is an error. Default: the limit of the route (`answer-limits.ts`). */
  readonly bytesMax?: number
  /** Which replies without a 2xx status are answers. */
  readonly isAnswer?: (reply: HttpReply) => boolean
}

export type HttpReply = {
  readonly status: number
  header(name: string): string | null
  readonly text: string
}

/** Whether a repeat changes nothing more than the first request. */
export function isSafe(request: HttpRequest): boolean {
  return request.isSafe ?? request.method === 'GET'
}

/** For messages: `GET /v0/wallet/balance`. */
export function nameOf(request: HttpRequest): string {
  return `${request.method} ${request.path}`
}

/** Whether the reply is an answer. `failureOf` has the meaning of any other. */
export function isAnswered(request: HttpRequest, reply: HttpReply): boolean {
  return (reply.status >= 200 && reply.status < 300) || request.isAnswer?.(reply) === true
}

/** Whether a `fetch` of the application returned what its platform's would. */
export function isResponse(response: unknown): boolean {
  return typeof (response as Response | null | undefined)?.headers?.get === 'function'
}

/** A header of a response that may be one of the application; null: it has none. */
export function headerOf(response: Response, name: string): string | null {
  try {
    const text: unknown = response.headers.get(name)
    return typeof text === 'string' ? text : null
  } catch {
    return null
  }
}
