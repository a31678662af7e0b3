/**
 * @module-tag thorough
 * @module-tag rest
 */
import { connect } from 'node:net'
import {
  type RouteDef,
  type RouteTable,
  scanRoutes,
  synchronizerRoutes,
  validatorRoutes,
} from '@quorumscan/api'
import { catalogue, ScanError } from '@quorumscan/errors'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { expect, it } from 'vitest'
import { buildServer } from './server.ts'

const ready = new TextEncoder().encode('{}')
const REQUESTS_PER_OPERATION = 12
const PEER_TOKEN = 'token-of-a-peer-of-the-synchronizer'
/** Node answers bytes that are not HTTP; it closes without an answer if they end too early. */
const ANSWERED_SHARE_MIN = 0.9

/** A server whose handlers answer whatever passed the checks. */
function serve(routes: RouteTable, onReached: (id: string) => void = () => {}) {
  const answerOf = (id: string) => async () => {
    onReached(id)
    return { body: ready }
  }
  return buildServer<RouteTable, string>({
    routes,
    handlers: Object.fromEntries(Object.keys(routes).map((id) => [id, answerOf(id)])),
    prefix: '/api/test',
    authenticate: async ({ authorization }) => {
      if (authorization?.startsWith('Bearer ') !== true)
        throw new ScanError('UNAUTHENTICATED', 'no token')
      return 'alice'
    },
    rateLimit: { unitsPerSecond: Number.MAX_SAFE_INTEGER, peerTokens: [PEER_TOKEN] },
  })
}

const tables = { scan: scanRoutes, validator: validatorRoutes, synchronizer: synchronizerRoutes }
/** By `service operationId`. */
const reached = new Set<string>()
const operations = new Map<string, { readonly server: FastifyInstance; readonly route: RouteDef }>()
const servers = Object.entries<RouteTable>(tables).map(([service, routes]) => {
  const server = serve(routes, (id) => reached.add(`${service} ${id}`))
  for (const [id, route] of Object.entries(routes))
    operations.set(`${service} ${id}`, { server, route })
  return {
    server,
    paths: Object.values<RouteTable[string]>(routes).map((route) => route.path),
    names: Object.values<RouteTable[string]>(routes).flatMap((route) => [
      ...Object.keys(route.query?.properties ?? {}),
      ...Object.keys(route.headers?.properties ?? {}),
    ]),
  }
})

const nasty = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('%00', '%', '%ff', '%2e%2e%2f', '..', '\u0000', '%F0%9F%98%80', '__proto__', '0'),
  fc.constant('x'.repeat(20_000)),
  fc.constant(`a::1220${'0'.repeat(64)}`),
)
const asUrl = (text: string) =>
  text.replace(/[^!-~]|#/g, (one) => encodeURIComponent(one.replace(/\p{Cs}/u, '?')))
const lineOf = (text: string) => text.replace(/[^\t -~]/g, '?')
const body = fc.oneof(
  fc.constant(undefined),
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc
    .dictionary(
      fc.constantFrom('lookups', 'name', 'party', 'amount', '__proto__', 'constructor', 'sign'),
      fc.jsonValue(),
    )
    .map((value) => JSON.stringify(value)),
  fc.array(fc.jsonValue()).map((lookups) => JSON.stringify({ lookups })),
)

type Schema = {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
}

/** Values that the schema of a part of a request takes. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valuesOf))
  const {
    minimum: min = 0,
    maximum: max = 1000,
    minLength = 1,
    maxLength = 40,
    pattern = '',
  } = schema
  switch (schema.type) {
    case 'object': {
      const members = Object.entries(schema.properties ?? {})
      const values = members.map(([name, member]) => [name, valuesOf(member)] as const)
      return fc.record(Object.fromEntries(values), { requiredKeys: schema.required ?? [] })
    }
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}), { maxLength: 3 })
    case 'integer':
      return fc.integer({ min, max })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
  }
  // Where any text is allowed: letters, so that it is one segment of a path, and one line.
  if (pattern !== '' && !pattern.includes('\\P{Cs}')) return fc.stringMatching(new RegExp(pattern))
  const most = Math.min(maxLength, 40)
  return fc.stringMatching(new RegExp(`^[a-z]{${Math.min(minLength, most)},${most}}$`))
}

const PARTS = ['params', 'query', 'headers', 'body'] as const
type Part = (typeof PARTS)[number]
type Fields = Readonly<Record<string, unknown>>

/** Requests that fit a route. */
function requestsFor(route: RouteDef) {
  const part = (schema: Schema = { type: 'object' }) => valuesOf(schema) as fc.Arbitrary<Fields>
  return fc.record({
    params: part(route.params),
    query: part(route.query),
    headers: part(route.headers),
    body:
      route.body === 'bytes'
        ? fc.constant('bytes')
        : part(route.body).map((body) => JSON.stringify(body)),
  })
}

type FittingRequest = ReturnType<typeof requestsFor> extends fc.Arbitrary<infer T> ? T : never

const textsOf = (fields: Fields) =>
  Object.entries(fields).map(([name, value]) => [name, String(value)] as const)

it('hands each request that fits its route to its handler, and has no 500 where one part is wrong', async () => {
  for (const [operation, { server, route }] of operations) {
    const send = async (input: FittingRequest, wrong: Part | null, text = '') => {
      const { params, query, headers, body } = input
      const unlessWrong = (part: Part, value: string) => (wrong === part ? text : value)
      const segments = new Map(textsOf(params))
      const path = route.path.replace(/\{(\w+)\}/g, (_, name) =>
        asUrl(unlessWrong('params', segments.get(name) ?? '')),
      )
      const search = textsOf(query).map(
        ([name, value]) => `${name}=${encodeURIComponent(asUrl(unlessWrong('query', value)))}`,
      )
      const fields = textsOf(headers).map(
        ([name, value]) => [name, lineOf(unlessWrong('headers', value))] as const,
      )
      return server.inject({
        method: route.method,
        url: `/api/test${path}?${search.join('&')}`,
        headers: {
          authorization: 'Bearer x',
          'x-peer-token': PEER_TOKEN,
          'content-type': route.body === 'bytes' ? 'application/octet-stream' : 'application/json',
          ...Object.fromEntries(fields),
        },
        ...(route.body === undefined ? {} : { payload: unlessWrong('body', body) }),
      })
    }
    await fc.assert(
      fc.asyncProperty(
        requestsFor(route),
        fc.constantFrom(...PARTS),
        nasty,
        async (input, wrong, text) => {
          const answer = await send(input, null)
          expect(answer.statusCode, `${operation}: ${answer.body}`).toBe(200)
          const other = await send(input, wrong, text)
          expect(other.statusCode, `${operation}: ${other.body}`).toBeLessThan(500)
        },
      ),
      { numRuns: REQUESTS_PER_OPERATION },
    )
    expect(reached).toContain(operation)
  }
})

it('answers nothing that a client sends with a 500, and each error with the body of D-6', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...servers).chain(({ server, paths, names }) =>
        fc.record({
          server: fc.constant(server),
          mount: fc.constantFrom('', '/api/test', '/', '//api//test/'),
          path: fc.oneof(fc.constantFrom(...paths), nasty),
          segment: nasty,
          query: fc.array(fc.tuple(fc.constantFrom('', ...names), nasty), { maxLength: 3 }),
          headers: fc.array(
            fc.tuple(
              fc.constantFrom('content-type', 'authorization', 'x-request-id', 'accept', ...names),
              fc.oneof(nasty.map(lineOf), fc.constantFrom('Bearer x', 'text/plain', '1')),
            ),
            { maxLength: 3 },
          ),
          method: fc.constantFrom(
            'GET',
            'POST',
            'PUT',
            'PATCH',
            'DELETE',
            'HEAD',
            'OPTIONS',
            'TRACE',
            'QUERY',
            'PROPFIND',
          ),
          body,
        }),
      ),
      async (input) => {
        const path = input.path.replace(/\{\w+\}/g, () => asUrl(input.segment))
        const query = input.query.map(([name, value]) => `${name}=${asUrl(value)}`).join('&')
        const reply = await input.server.inject({
          method: input.method as 'GET',
          url: `${input.mount}${asUrl(path)}?${query}`,
          headers: Object.fromEntries(input.headers),
          ...(input.body === undefined ? {} : { payload: input.body }),
        })
        expect(reply.statusCode).not.toBe(500)
        if (reply.statusCode < 400 || input.method === 'HEAD') return
        const { code } = reply.json()
        expect(catalogue[code as keyof typeof catalogue].httpStatus).toBe(reply.statusCode)
        expect(reply.json().request_id).toBe(reply.headers['x-request-id'])
      },
    ),
    { numRuns: 1500 },
  )
})

it('answers bytes that are no HTTP with 400, and serves the next request', async () => {
  await using server = serve(scanRoutes)
  const url = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
  const talk = (bytes: Uint8Array) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(url.port), url.hostname)
      let reply = ''
      socket.on('data', (chunk) => {
        reply += chunk.toString('latin1')
      })
      socket.on('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ECONNRESET' || error.code === 'EPIPE' ? resolve(reply) : reject(error),
      )
      socket.on('close', () => resolve(reply))
      socket.end(bytes)
    })
  let [sentCount, answeredCount] = [0, 0]
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc
          .tuple(fc.constantFrom('GET ', 'POST /v0/ans-rules ', 'G'), fc.string({ unit: 'binary' }))
          .map((parts) => new TextEncoder().encode(`${parts.join('')}\r\n\r\n`)),
      ),
      async (bytes) => {
        const reply = await talk(bytes)
        sentCount++
        if (reply === '') return
        answeredCount++
        expect(reply).toMatch(/^HTTP\/1\.1 4[0-9][0-9] /)
        const [, text = ''] = reply.split('\r\n\r\n')
        expect(JSON.parse(text)).toMatchObject({ definite: true })
      },
    ),
    { numRuns: 200 },
  )
  expect(answeredCount / sentCount).toBeGreaterThanOrEqual(ANSWERED_SHARE_MIN)
  const overflow = `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`
  expect(await talk(new TextEncoder().encode(overflow))).toMatch(
    /^HTTP\/1\.1 431 .*HEADERS_TOO_LARGE/s,
  )
  await expect(await fetch(new URL('/livez', url))).toAnswer(200)
})
