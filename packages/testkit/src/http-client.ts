/** The HTTP client of tests: sends requests unchanged, invalid ones too, and returns the response. */
export type HttpAnswer = {
  readonly status: number
  readonly headers: Headers
  /** The content type without its parameters; empty if it is missing. */
  readonly type: string
  readonly text: string
  /** The value if it is JSON, otherwise the text; null if it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  readonly body: any
  /** Time from the request to the end of the answer. */
  readonly ms: number
}

export type HttpRequest = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Strings and bytes are sent unchanged, with a content type only if `headers` has one. Other values become JSON. */
  readonly body?: unknown
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch
}

export async function send(url: string, request: HttpRequest = {}): Promise<HttpAnswer> {
  const { method = 'GET', body } = request
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const headers = {
    ...(body === undefined || isRaw ? {} : { 'content-type': 'application/json' }),
    ...request.headers,
  }
  const startedAt = performance.now()
  const response = await (request.fetch ?? fetch)(url, {
    method,
    headers,
    // `fetch` would add a content type to a string.
    ...(body === undefined
      ? {}
      : { body: isRaw ? Buffer.from(body) : Buffer.from(JSON.stringify(body)) }),
  })
  const text = await response.text()
  const type = (response.headers.get('content-type') ?? '').replace(/;.*/, '')
  return {
    status: response.status,
    headers: response.headers,
    type,
    text,
    body: text === '' ? null : /[/+]json$/.test(type) ? JSON.parse(text) : text,
    ms: performance.now() - startedAt,
  }
}

type RequestHeaders = HttpRequest['headers']

export type HttpClient = {
  send(method: string, path: string, body?: unknown, headers?: RequestHeaders): Promise<HttpAnswer>
  get(path: string, headers?: RequestHeaders): Promise<HttpAnswer>
  /** Without a body it sends `{}`. */
  post(path: string, body?: unknown, headers?: RequestHeaders): Promise<HttpAnswer>
  put(path: string, body: unknown): Promise<HttpAnswer>
  patch(path: string, body: unknown): Promise<HttpAnswer>
  delete(path: string): Promise<HttpAnswer>
}

/** A client of one server. `url` is a function if the address changes. With `token` null, requests have no token. */
export function createHttpClient(url: string | (() => string), token: string | null): HttpClient {
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` }
  const sendTo: HttpClient['send'] = (method, path, body, headers) =>
    send(`${typeof url === 'string' ? url : url()}${path}`, {
      method,
      body,
      headers: { ...authorization, ...headers },
    })
  return {
    send: sendTo,
    get: (path, headers) => sendTo('GET', path, undefined, headers),
    post: (path, body = {}, headers = {}) => sendTo('POST', path, body, headers),
    put: (path, body) => sendTo('PUT', path, body),
    patch: (path, body) => sendTo('PATCH', path, body),
    delete: (path) => sendTo('DELETE', path),
  }
}
