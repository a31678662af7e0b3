/** For tests: a client of the validator's HTTP interface. */
export type Answer = {
  readonly status: number
  readonly headers: Headers
  // Tests compare whole bodies, and read members of what they have just compared.
  readonly body: Record<string, unknown>
}

export type Client = {
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  put(path: string, body: unknown): Promise<Answer>
  delete(path: string): Promise<Answer>
}

export function createClient(url: string, token: string | null): Client {
  const send = async (method: string, path: string, init: RequestInit): Promise<Answer> => {
    const headers = new Headers(init.headers)
    if (token !== null && !headers.has('authorization'))
      headers.set('authorization', `Bearer ${token}`)
    const response = await fetch(`${url}${path}`, { ...init, method, headers })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? {} : JSON.parse(text),
    }
  }
  return {
    put: (path, body) =>
      send('PUT', path, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    delete: (path) => send('DELETE', path, {}),
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: (path, body = {}, headers = {}) =>
      send('POST', path, {
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  }
}
