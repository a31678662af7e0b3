/** Sends the request of a case to the process that has the route. */
import { request } from 'undici'
import type { Input } from './case.ts'
import type { World } from './world.ts'

/** The members that all kinds of routes have. */
export type AnyRoute = {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly auth: 'none' | 'peer' | 'user' | 'admin'
}

/** The interface that has the route. The ledger interface belongs to the validator. */
export type Surface = 'scan' | 'validator' | 'synchronizer' | 'ledger'

export type Answer = {
  readonly status: number
  readonly type: string
  readonly text: string
  /** The parsed value if it is JSON, otherwise the text; null if it is empty. */
  readonly body: unknown
}

type CaseInput = Input & { readonly surface: Surface; readonly route: AnyRoute }

/** The request of a case, complete. */
type CaseRequest = {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
}

export function requestOf(world: World, input: CaseInput): CaseRequest {
  const { surface, route, body } = input
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const token = input.token === undefined ? tokenFor(world, route) : input.token
  const header = route.auth === 'peer' ? 'x-peer-token' : 'authorization'
  const url = `${input.url ?? world.urls[surface]}${pathOf(route, input)}`
  return {
    url,
    method: route.method,
    headers: {
      ...(body === undefined || isRaw ? {} : { 'content-type': 'application/json' }),
      ...(body instanceof Uint8Array ? { 'content-type': 'application/octet-stream' } : {}),
      ...(token === null ? {} : { [header]: route.auth === 'peer' ? token : `Bearer ${token}` }),
      ...input.headers,
    },
    body: body === undefined ? null : isRaw ? body : JSON.stringify(body),
  }
}

/** Sends the request, and returns the answer, or the first bytes of an endless one. */
export async function sendCase(world: World, input: CaseInput): Promise<Answer> {
  const { url, method, headers, body } = requestOf(world, input)
  const answer = await request(url, { method: method as 'GET', headers, body })
  const type = String(answer.headers['content-type'] ?? '').replace(/;.*/, '')
  const isEndless = input.route.operationId === 'followLog' && answer.statusCode === 200
  const text = isEndless ? await firstOf(answer.body) : await answer.body.text()
  return {
    status: answer.statusCode,
    type,
    text,
    body: text === '' ? null : /[/+]json$/.test(type) ? JSON.parse(text) : text,
  }
}

async function firstOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  for await (const bytes of body) return Buffer.from(bytes).toString('latin1')
  return ''
}

function tokenFor(world: World, { auth }: AnyRoute): string | null {
  switch (auth) {
    case 'none':
      return null
    case 'peer':
      return world.peerToken
    case 'user':
      return world.user.token
    case 'admin':
      return world.admin
  }
}

function pathOf({ path }: AnyRoute, { params = {}, rawParams = {}, query = {} }: Input): string {
  const filled = path.replace(
    /\{([^}]+)\}/g,
    (_, name: string) => rawParams[name] ?? encodeURIComponent(params[name] ?? name),
  )
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`
}
