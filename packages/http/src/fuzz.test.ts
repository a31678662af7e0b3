import { connect } from 'node:net'
import { type RouteTable, scanRoutes, synchronizerRoutes, validatorRoutes } from '@quorumscan/api'
import { catalogue, ScanError } from '@quorumscan/errors'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { buildServer } from './server.ts'

const ready = new TextEncoder().encode('{}')

/** A server whose handlers answer whatever passed the checks. */
function serve(routes: RouteTable) {
  const answer = async () => ({ body: ready })
  return buildServer<RouteTable, string>({
    routes,
    handlers: Object.fromEntries(Object.keys(routes).map((id) => [id, answer])),
    prefix: '/api/test',
    authenticate: async ({ authorization }) => {
      if (authorization?.startsWith('Bearer ') !== true)
        throw new ScanError('UNAUTHENTICATED', 'no token')
      return 'alice'
    },
    rateLimit: null,
  })
}

const servers = [scanRoutes, validatorRoutes, synchronizerRoutes].map((routes) => ({
  server: serve(routes),
  paths: Object.values<RouteTable[string]>(routes).map((route) => route.path),
  names: Object.values<RouteTable[string]>(routes).flatMap((route) => [
    ...Object.keys(route.query?.properties ?? {}),
    ...Object.keys(route.headers?.properties ?? {}),
  ]),
}))

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

it('nothing that a client sends produces a 500 or an error without the body of D-6', async () => {
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
        expect(reply.statusCode).toBeLessThan(500)
        if (reply.statusCode < 400 || input.method === 'HEAD') return
        const { code } = reply.json()
        expect(catalogue[code as keyof typeof catalogue].httpStatus).toBe(reply.statusCode)
        expect(reply.json().request_id).toBe(reply.headers['x-request-id'])
      },
    ),
    { numRuns: 1500 },
  )
})

it('bytes that are no HTTP are answered with 400 or nothing, and the server goes on', async () => {
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
        if (reply === '') return
        expect(reply).toMatch(/^HTTP\/1\.1 4[0-9][0-9] /)
        const [, text = ''] = reply.split('\r\n\r\n')
        expect(JSON.parse(text)).toMatchObject({ definite: true })
      },
    ),
    { numRuns: 200 },
  )
  const overflow = `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`
  expect(await talk(new TextEncoder().encode(overflow))).toMatch(
    /^HTTP\/1\.1 431 .*HEADERS_TOO_LARGE/s,
  )
  await expect(await fetch(new URL('/livez', url))).toAnswer(200)
})
