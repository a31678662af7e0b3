import { PassThrough } from 'node:stream'
import { scanRoutes, synchronizerRoutes, USER_ID_PATTERN } from '@quorumscan/api'
import { heldSizes } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { createLogger } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { type Static, Type } from 'typebox'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Handlers } from './handler.ts'
import { buildServer, type ServerOptions } from './server.ts'
import { requestCheck } from './validation.ts'

const party = `alice::1220${'a'.repeat(64)}`
const Item = Type.Object({
  name: Type.String({ maxLength: 5 }),
  count: Type.Optional(Type.Integer()),
})
const open = { tag: 'test', summary: '', errors: [], auth: 'none', cost: 1 } as const

const routes = {
  getItem: {
    ...open,
    operationId: 'getItem',
    method: 'GET',
    path: '/v0/items/{name}',
    params: Type.Object({ name: Type.String() }),
    query: Type.Object({
      page_size: Type.Integer({ minimum: 1, maximum: 10 }),
      shared: Type.Optional(Type.Boolean()),
    }),
    headers: Type.Object({ 'x-read-at-offset': Type.Optional(Type.Integer({ minimum: 0 })) }),
    response: Type.Object({ seen: Type.Unknown() }),
  },
  listItems: {
    ...open,
    operationId: 'listItems',
    method: 'GET',
    path: '/v0/lists',
    query: Type.Object({ quorum: Type.Optional(Type.String()) }, { additionalProperties: false }),
    response: Type.Object({ seen: Type.Unknown() }),
  },
  putItem: {
    ...open,
    operationId: 'putItem',
    method: 'POST',
    path: '/v0/items',
    body: Item,
    response: Item,
  },
  textItem: {
    ...open,
    operationId: 'textItem',
    method: 'POST',
    path: '/v0/text-items',
    body: Item,
    acceptsTextPlain: true,
    response: Item,
  },
  me: {
    ...open,
    operationId: 'me',
    method: 'GET',
    path: '/v0/me',
    auth: 'user',
    response: Type.String(),
  },
  touch: { ...open, operationId: 'touch', method: 'POST', path: '/v0/touch', response: null },
  livez: { ...open, operationId: 'livez', method: 'GET', path: '/livez', response: null, cost: 0 },
} as const

const echo = async (request: { body: Static<typeof Item> }) => ({ body: request.body })
const handlers: Handlers<typeof routes, string> = {
  getItem: async ({ params, query, headers }) => ({ body: { seen: { params, query, headers } } }),
  listItems: async ({ query }) => ({ body: { seen: query } }),
  putItem: echo,
  textItem: echo,
  me: async ({ user }) => ({ body: user }),
  touch: async () => ({ body: null }),
  livez: async () => ({ body: null }),
}

function serve(
  changes: Partial<Handlers<typeof routes, string>> = {},
  options: Partial<ServerOptions<typeof routes, string>> = {},
) {
  return buildServer<typeof routes, string>({
    routes,
    handlers: { ...handlers, ...changes },
    prefix: '/api/test',
    rateLimit: null,
    authenticate: async ({ authorization }) => {
      if (authorization !== 'Bearer good') throw new ScanError('UNAUTHENTICATED', 'no token')
      return 'alice'
    },
    ...options,
  })
}

const item = '{"name":"a"}'

it('an answer is JSON unless its handler names another type for its bytes', async () => {
  const server = serve({
    touch: async () => ({ body: null }),
    putItem: async () => ({
      status: 404,
      headers: { 'content-type': 'application/x.proof+json' },
      body: Buffer.from('{"proof":1}'),
    }),
  })
  const proof = await server.inject({ method: 'POST', url: '/v0/items', payload: { name: 'a' } })
  expect([proof.statusCode, proof.headers['content-type'], proof.body]).toEqual([
    404,
    'application/x.proof+json',
    '{"proof":1}',
  ])
  const item = await server.inject('/v0/items/a?page_size=1')
  expect(item.headers['content-type']).toBe('application/json; charset=utf-8')
})

describe('paths', () => {
  it.each([
    ['/v0/items/a?page_size=1', { name: 'a' }],
    ['/api/test/v0/items/a?page_size=1', { name: 'a' }],
    ['//v0/items/a?page_size=1', { name: 'a' }],
    ['/api/test//v0/items/a?page_size=1', { name: 'a' }],
    ['/v0/items/%F0%9F%98%80%2Fb%3A%3Ac?page_size=1', { name: '😀/b::c' }],
    [`/v0/items/${'n'.repeat(300)}?page_size=1`, { name: 'n'.repeat(300) }],
  ])('%s is served', async (url, params) => {
    const reply = await serve().inject(url)
    expect(reply.statusCode).toBe(200)
    expect(reply.json().seen.params).toEqual(params)
  })

  it('HEAD is answered like GET, without the body', async () => {
    const reply = await serve().inject({ method: 'HEAD', url: '/v0/items/a?page_size=1' })
    expect([reply.statusCode, reply.body]).toEqual([200, ''])
  })

  it.each([
    ['GET', '/v0/nothing', 404, 'ROUTE_NOT_FOUND'],
    ['POST', '/v0/nothing', 404, 'ROUTE_NOT_FOUND'],
    ['DELETE', '/v0/items/a', 405, 'METHOD_NOT_ALLOWED'],
    ['GET', '/api/test/v0/items', 405, 'METHOD_NOT_ALLOWED'],
    ['GET', '/v0/items/%ff?page_size=1', 400, 'MALFORMED_REQUEST'],
    ['GET', '/v0/items/%?page_size=1', 400, 'MALFORMED_REQUEST'],
    ['GET', '/v0/items/a?page_size=1&x=%c3%28', 400, 'MALFORMED_REQUEST'],
  ] as const)('%s %s is %d %s, with the body of D-6', async (method, url, status, code) => {
    const reply = await serve().inject({ method, url, headers: { 'x-request-id': 'r-1' } })
    expect(reply.statusCode).toBe(status)
    expect(reply.json()).toEqual({
      error: expect.any(String),
      code,
      definite: true,
      retryable: false,
      request_id: 'r-1',
      details: null,
    })
    expect(reply.headers['access-control-allow-origin']).toBe('*')
  })

  it('a refused method says which are allowed', async () => {
    const reply = await serve().inject({ method: 'PUT', url: '/v0/items/a' })
    expect(reply.headers['allow']).toBe('HEAD, GET')
  })
})

describe('parameters, queries and headers', () => {
  it('are decoded by their type, and only the declared ones are handed on', async () => {
    const reply = await serve().inject({
      url: '/v0/items/a?page_size=10&shared=true&other=1',
      headers: { 'x-read-at-offset': '7' },
    })
    expect(reply.json().seen).toEqual({
      params: { name: 'a' },
      query: { page_size: 10, shared: true },
      headers: { 'x-read-at-offset': 7 },
    })
  })

  it.each([
    ['', 'query.page_size', 'must be present'],
    ['page_size=0', 'query.page_size', 'must be >= 1'],
    ['page_size=11', 'query.page_size', 'must be <= 10'],
    ['page_size=abc', 'query.page_size', 'must be integer'],
    ['page_size=', 'query.page_size', 'must be integer'],
    ['page_size=1.5', 'query.page_size', 'must be integer'],
    ['page_size=0x1', 'query.page_size', 'must be integer'],
    ['page_size=1e0', 'query.page_size', 'must be integer'],
    ['page_size=+1', 'query.page_size', 'must be integer'],
    ['page_size=1&page_size=2', 'query.page_size', 'must be integer'],
    ['page_size=99999999999999999999', 'query.page_size', 'must be integer'],
    ['page_size=1&shared=yes', 'query.shared', 'must be boolean'],
  ])('?%s is refused at %s', async (query, path, rule) => {
    const reply = await serve().inject(`/v0/items/a?${query}`)
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ code: 'INVALID_ARGUMENT', details: { path, rule } })
  })

  it('a header of the wrong form is refused by its name', async () => {
    const headers = { 'x-read-at-offset': 'soon' }
    const reply = await serve().inject({ url: '/v0/items/a?page_size=1', headers })
    expect(reply.json().details.path).toBe('headers.x-read-at-offset')
  })

  it('an unknown member of a closed query is refused by its name', async () => {
    const reply = await serve().inject({ url: '/v0/lists?quorum=all&qourum=all' })
    const details = { path: 'query.qourum', rule: 'is unknown' }
    expect(reply.json()).toMatchObject({ code: 'INVALID_ARGUMENT', details })
    const known = await serve().inject({ url: '/v0/lists?quorum=all' })
    expect(known.json()).toEqual({ seen: { quorum: 'all' } })
  })

  it.each([
    ['x-read-at-ofset', ': did you mean x-read-at-offset?'],
    ['x-raed-at-offset', ': did you mean x-read-at-offset?'],
    ['x-read-offset', ''],
  ])('a header %s, which is nearly a declared one, is refused', async (name, hint) => {
    const reply = await serve().inject({
      url: '/v0/items/a?page_size=1',
      headers: { [name]: '7' },
    })
    const details = { path: `headers.${name}`, rule: `is unknown${hint}` }
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ code: 'INVALID_ARGUMENT', details })
  })

  it('an unknown header has no effect', async () => {
    const headers = {
      authorization: 'Bearer Bearer x',
      cookie: ';;=',
      'content-type': 'nonsense',
      'x-forwarded-host': 'a.example',
      'x-ready': '1',
    }
    const reply = await serve().inject({ url: '/v0/items/a?page_size=1', headers })
    expect(reply.statusCode).toBe(200)
  })
})

describe('bodies', () => {
  const post = (
    payload: string | Buffer,
    headers: Record<string, string> = {},
    url = '/v0/items',
  ) => serve().inject({ method: 'POST', url, payload, headers })

  it.each([
    [undefined],
    ['application/json'],
    ['application/json; charset=utf-8'],
    ['Application/JSON'],
  ])('are JSON with the content type %s', async (type) => {
    const reply = await post(item, type === undefined ? {} : { 'content-type': type })
    expect([reply.statusCode, reply.body]).toEqual([200, item])
  })

  it.each([['text/plain'], ['application/x-www-form-urlencoded'], ['nonsense'], [' ; ']])(
    'with the content type %s are refused',
    async (type) => {
      const reply = await post(item, { 'content-type': type })
      expect([reply.statusCode, reply.json().code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    },
  )

  it('text/plain is JSON where the route says so (D-14)', async () => {
    const reply = await post(item, { 'content-type': 'text/plain;charset=UTF-8' }, '/v0/text-items')
    expect(reply.statusCode).toBe(200)
  })

  it('compressed bodies are refused', async () => {
    const reply = await post(item, { 'content-encoding': 'gzip' })
    expect(reply.json().code).toBe('UNSUPPORTED_MEDIA_TYPE')
  })

  it('unknown members are ignored', async () => {
    expect((await post('{"name":"a","x":{"y":1}}')).statusCode).toBe(200)
  })

  it.each([
    ['{', 'MALFORMED_BODY'],
    ['{"name":"a"', 'MALFORMED_BODY'],
    ['{"__proto__":{"name":"a"},"name":"a"}', 'MALFORMED_BODY'],
    ['{"name":"a","name":"a"}', 'MALFORMED_BODY'],
    ['{"name":"a","x":{"\\u005f_proto__":1}}', 'MALFORMED_BODY'],
    ['', 'INVALID_ARGUMENT'],
    ['null', 'INVALID_ARGUMENT'],
    ['[]', 'INVALID_ARGUMENT'],
    ['"a"', 'INVALID_ARGUMENT'],
    ['{}', 'INVALID_ARGUMENT'],
    ['{"name":1}', 'INVALID_ARGUMENT'],
    ['{"name":"a","count":"1"}', 'INVALID_ARGUMENT'],
    ['{"name":"a","count":1.5}', 'INVALID_ARGUMENT'],
    ['{"name":"a","count":null}', 'INVALID_ARGUMENT'],
    ['{"name":"abcdef"}', 'INVALID_ARGUMENT'],
  ])('%s is 400 %s', async (payload, code) => {
    const reply = await post(payload)
    expect([reply.statusCode, reply.json().code]).toEqual([400, code])
  })

  it.each([
    [63, 200],
    [64, 400],
    [500_000, 400],
  ])('with %d lists in one another are answered %d', async (depth, status) => {
    const nested = '['.repeat(depth) + ']'.repeat(depth)
    expect((await post(`{"name":"a","x":${nested}}`)).statusCode).toBe(status)
    expect((await post(nested)).statusCode).toBe(400)
    expect((await post(`{"name":"a","x":"${'[\\"{'.repeat(100)}"}`)).statusCode).toBe(200)
  })

  it('with more values than any operation takes are refused before they are looked at', async () => {
    const wide = (count: number) => `{"name":"a","x":[${'0,'.repeat(count)}0]}`
    // The object, the text, the list and its last number.
    for (const count of [4_095, 4_096]) expect((await post(wide(count - 4))).statusCode).toBe(200)
    expect((await post(wide(4_097 - 4))).json().code).toBe('MALFORMED_BODY')
  })

  it('bytes that are not UTF-8 are refused, not repaired', async () => {
    const reply = await post(
      Buffer.concat([Buffer.from('{"name":"'), Buffer.of(0xff), Buffer.from('"}')]),
    )
    expect(reply.json().code).toBe('MALFORMED_BODY')
  })

  it('the first member that does not fit is named', async () => {
    expect((await post('{"count":"x"}')).json().details).toEqual({
      path: 'body.name',
      rule: 'must be present',
    })
  })

  it('a text of another form is refused in words, not by a pattern', () => {
    const check = requestCheck(
      Type.Object({ user: Type.String({ pattern: USER_ID_PATTERN }) }),
      'body',
    )
    const rule = /^body\.user must have 1 to 128 letters/
    expect(() => check({ user: 'a b' })).toThrow(rule)
  })

  it('above 1 MiB they are 413, exactly 1 MiB is read', async () => {
    const padded = (size: number) => `{"name":"a"${' '.repeat(size - 12)}}`
    expect((await post(padded(1024 * 1024))).statusCode).toBe(200)
    const reply = await post(padded(1024 * 1024 + 1))
    expect([reply.statusCode, reply.json().code]).toEqual([413, 'BODY_TOO_LARGE'])
  })

  it('are ignored where none is declared, even if they are no JSON', async () => {
    const reply = await post('{', { 'content-type': 'application/json' }, '/v0/touch')
    expect([reply.statusCode, reply.body]).toEqual([200, ''])
  })

  /** The routes of a scan node. No request reaches a handler. */
  function serveScan() {
    const notCalled = async () => expect.fail('not called')
    return buildServer({
      routes: scanRoutes,
      handlers: Object.fromEntries(Object.keys(scanRoutes).map((id) => [id, notCalled])) as never,
      prefix: null,
      rateLimit: null,
    })
  }

  it('more lookups than a batch may have, and offsets that no ledger has, are refused', async () => {
    const scan = serveScan()
    const batch = await scan.inject({
      method: 'POST',
      url: '/v0/ans-entries/batch',
      payload: JSON.stringify({ lookups: new Array(257).fill({ name: 'a' }) }),
    })
    expect([batch.statusCode, batch.json().code]).toEqual([400, 'INVALID_ARGUMENT'])
    for (const offset of ['-1', 'x', '1.5', '9007199254740993']) {
      const headers = { 'x-read-at-offset': offset }
      const reply = await scan.inject({ url: '/v0/ans-entries/by-name/a', headers })
      expect([offset, reply.json().code]).toEqual([offset, 'INVALID_ARGUMENT'])
    }
  })

  it('an integer of a query counts by its value, with a sign or zeros in front', async () => {
    const sizes: number[] = []
    const scan = buildServer({
      routes: { listEntries: scanRoutes.listEntries },
      handlers: {
        listEntries: async ({ query }: { query: { page_size: number } }) => {
          sizes.push(query.page_size)
          return { entries: [], next_page_token: null }
        },
      } as never,
      prefix: null,
      rateLimit: null,
    })
    const written = ['10', '%2B10', `${'0'.repeat(30)}10`, '-10', '1e1', '0x0a', '%2010']
    for (const size of written) await scan.inject(`/v0/ans-entries?page_size=${size}`)
    expect(sizes).toEqual([10, 10, 10])
  })

  it('a malformed party has a code of its own, in a batch too', async () => {
    const scan = serveScan()
    const byParty = await scan.inject('/v0/ans-entries/by-party/alice')
    expect([byParty.statusCode, byParty.json().code]).toEqual([400, 'INVALID_PARTY'])
    const batch = await scan.inject({
      method: 'POST',
      url: '/v0/ans-entries/batch',
      payload: JSON.stringify({ lookups: [{ name: 'a' }, { party }, { party: 'alice' }] }),
    })
    expect(batch.json()).toMatchObject({
      code: 'INVALID_PARTY',
      details: { path: 'body.lookups.2.party' },
    })
    const ambiguous = await scan.inject({
      method: 'POST',
      url: '/v0/ans-entries/batch',
      payload: JSON.stringify({ lookups: [{ name: 'a' }, { name: 'a', party }] }),
    })
    expect(ambiguous.json()).toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { path: 'body.lookups.1', rule: 'must not have members that exclude each other' },
    })
  })

  it('raw bytes reach the handler as they are', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    let seen: Uint8Array | undefined
    const unused = async () => expect.fail('not called')
    const ofSynchronizer: Handlers<typeof synchronizerRoutes> = {
      livez: unused,
      readyz: unused,
      getStatus: unused,
      getVersion: unused,
      followLog: unused,
      listOrderingEvidence: unused,
      readEngine: unused,
      submitEntry: async ({ body }) => {
        seen = body
        return { body: { accepted: true } }
      },
    }
    const server = buildServer({
      routes: synchronizerRoutes,
      handlers: ofSynchronizer,
      prefix: null,
      rateLimit: null,
    })
    const url = '/v0/submit'
    const reply = await server.inject({ method: 'POST', url, payload: Buffer.from(bytes) })
    expect(reply.json()).toEqual({ accepted: true })
    expect(seen).toEqual(bytes)
    const large = await server.inject({
      method: 'POST',
      url,
      payload: Buffer.alloc(256 * 1024 + 1),
    })
    expect(large.statusCode).toBe(413)
  })
})

describe('answers', () => {
  it('carry the head, the request id and CORS headers, errors too', async () => {
    const server = serve({}, { commonHeaders: () => ({ 'x-ledger-head': '9' }) })
    for (const url of ['/v0/items/a?page_size=1', '/v0/items/a', '/v0/nothing', '/v0/items/%ff']) {
      const { headers } = await server.inject({ url, headers: { 'x-request-id': 'abc-1' } })
      expect(headers, url).toMatchObject({
        'x-ledger-head': '9',
        'x-request-id': 'abc-1',
        'access-control-allow-origin': '*',
        'cache-control': 'no-store',
        'content-type': 'application/json; charset=utf-8',
      })
      const exposed = String(headers['access-control-expose-headers']).split(', ')
      const quorum = [
        'outcome',
        'offset',
        'record-time',
        'threshold',
        'agreed',
        'dissented',
        'nodes',
      ]
      expect(exposed).toEqual(
        expect.arrayContaining([
          ...quorum.map((part) => `x-quorum-${part}`),
          'x-ledger-head',
          'x-request-id',
          'retry-after',
        ]),
      )
    }
  })

  it('get a request id of ours when the client sends none, or a bad one', async () => {
    for (const id of ['', 'a b', 'x'.repeat(65)]) {
      const reply = await serve().inject({ url: '/v0/nothing', headers: { 'x-request-id': id } })
      expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f]{24}$/)
      expect(reply.json().request_id).toBe(reply.headers['x-request-id'])
    }
  })

  it('as ready bytes are passed on untouched', async () => {
    const bytes = new TextEncoder().encode(' {"name" : "é"} ').subarray(1)
    const reply = await serve({ putItem: async () => ({ body: bytes }) }).inject({
      method: 'POST',
      url: '/v0/items',
      payload: item,
    })
    expect(new Uint8Array(reply.rawPayload)).toEqual(new Uint8Array(bytes))
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  it('a peer token lifts the budget of an address', async () => {
    const token = 'a-token-of-22-letters_'
    const rateLimit = { unitsPerSecond: 1, peerTokens: [token] }
    const server = serve({}, { rateLimit, clock: createManualClock() })
    const statuses: number[] = []
    for (const headers of [{}, {}, { 'x-peer-token': token }, { 'x-peer-token': token }])
      statuses.push((await server.inject({ url: '/v0/items/a?page_size=1', headers })).statusCode)
    expect(statuses).toEqual([200, 429, 200, 200])
  })

  it('preflights are answered on every path, before any work', async () => {
    const server = serve({}, { rateLimit: { unitsPerSecond: 1 }, clock: createManualClock() })
    for (let count = 0; count < 5; count++) {
      const reply = await server.inject({
        method: 'OPTIONS',
        url: '/v0/items/a',
        headers: { origin: 'https://wallet.example', 'access-control-request-method': 'GET' },
      })
      expect(reply.statusCode).toBe(204)
      expect(reply.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'DELETE, GET, PATCH, POST, PUT',
        'access-control-allow-headers':
          'accept, authorization, content-type, traceparent, tracestate, x-read-at-offset, x-request-id',
      })
    }
  })

  it('an error with headers keeps them', async () => {
    const error = new ScanError('ENTRY_NOT_FOUND', 'No ans entry found for name: a')
    const reply = await serve({
      getItem: async () => ({ error, headers: { 'x-ledger-offset': '4' } }),
    }).inject('/v0/items/a?page_size=1')
    expect([reply.statusCode, reply.headers['x-ledger-offset']]).toEqual([404, '4'])
    expect(reply.json().error).toBe('No ans entry found for name: a')
  })

  it.each([
    ['an exception', async () => Promise.reject(new Error('secret in redis://:pw@host'))],
    ['something thrown that is no error', async () => Promise.reject(undefined)],
    ['an answer that is not as declared', async () => ({ body: { name: 7 } as never })],
    [
      'a failing dependency',
      async () =>
        Promise.reject(
          new ScanError('DEPENDENCY_UNAVAILABLE', 'away', { cause: new Error('secret') }),
        ),
    ],
  ])('%s keeps its reason in the log, under the request id', async (_, putItem) => {
    const lines: string[] = []
    const logger = createLogger({
      name: 'test',
      level: 'info',
      stream: { write: (line) => lines.push(line) },
    })
    const reply = await serve({ putItem }, { logger }).inject({
      method: 'POST',
      url: '/v0/items?token=secret-query',
      payload: '{"name":"a","password":"secret-body"}',
      headers: { authorization: 'Bearer secret-token', 'x-request-id': 'req-7' },
    })
    expect(reply.statusCode).toBeGreaterThanOrEqual(500)
    expect(reply.body).not.toContain('secret')
    expect(reply.json()).toMatchObject({ definite: false, request_id: 'req-7' })
    expect(lines).toHaveLength(1)
    const logged = JSON.parse(lines[0] ?? '')
    expect(logged).toMatchObject({ name: 'test', request_id: 'req-7', code: reply.json().code })
    expect(lines[0]).not.toMatch(/secret-(query|body|token)/)
  })
})

describe('authentication', () => {
  it('comes before the body and gives the handler its user', async () => {
    const good = await serve().inject({ url: '/v0/me', headers: { authorization: 'Bearer good' } })
    expect(good.json()).toBe('alice')
    const bad = await serve().inject('/v0/me')
    expect([bad.statusCode, bad.headers['www-authenticate']]).toEqual([401, 'Bearer'])
  })

  it('a route that asks for a user cannot be served without it', () => {
    expect(() =>
      buildServer({ routes, handlers: handlers as never, prefix: null, rateLimit: null }),
    ).toThrow('me needs authenticate')
  })
})

describe('too much work in progress', () => {
  const peerToken = 'p'.repeat(64)
  const heavy = { ...routes, touch: { ...routes.touch, cost: () => 4096 } }
  let finish: () => void
  beforeEach(() => {
    finish = undefined as never
  })
  const server = (table: typeof heavy = heavy) =>
    buildServer<typeof heavy, string>({
      routes: table,
      handlers: {
        ...handlers,
        touch: () =>
          new Promise((resolve) => {
            finish = () => resolve({ body: null })
          }),
      },
      prefix: null,
      rateLimit: { unitsPerSecond: 1_000_000, peerTokens: [peerToken] },
      authenticate: async () => 'alice',
    })

  it('is refused with 503 before it is read, but for probes and peers', async () => {
    await using app = server()
    const post = (headers = {}) =>
      app.inject({ method: 'POST', url: '/v0/items', payload: item, headers })
    const touched = app.inject({ method: 'POST', url: '/v0/touch' })
    await expect.poll(() => finish).toBeDefined()
    const refused = await app.inject({ method: 'POST', url: '/v0/items', payload: '{' })
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1'])
    expect(refused.json()).toMatchObject({ code: 'OVERLOADED', definite: true, retryable: true })
    expect((await app.inject('/livez')).statusCode).toBe(200)
    expect((await post({ 'x-peer-token': peerToken })).statusCode).toBe(200)
    finish()
    expect((await touched).statusCode).toBe(200)
    expect((await post()).statusCode).toBe(200)
  })

  it('is none of a route that waits for the ledger, whatever it costs', async () => {
    await using app = server({ ...heavy, touch: { ...heavy.touch, waits: true } } as typeof heavy)
    const touched = app.inject({ method: 'POST', url: '/v0/touch' })
    await expect.poll(() => finish).toBeDefined()
    const post = () => app.inject({ method: 'POST', url: '/v0/items', payload: item })
    expect((await post()).statusCode).toBe(200)
    finish()
    expect((await touched).statusCode).toBe(200)
  })

  it('is none of submissions that wait for the log: many of a peer refuse nobody', async () => {
    const { submitEntry } = synchronizerRoutes
    let count = 0
    let append = () => {}
    const appended = new Promise<void>((resolve) => {
      append = resolve
    })
    await using app = buildServer({
      routes: { submitEntry },
      handlers: {
        async submitEntry() {
          count++
          await appended
          return { body: { accepted: true as const } }
        },
      },
      prefix: null,
      rateLimit: { unitsPerSecond: 1_000_000, peerTokens: [peerToken] },
    })
    const submit = async (headers: Record<string, string>) => {
      const { statusCode } = await app.inject({
        method: 'POST',
        url: '/v0/submit',
        payload: Buffer.alloc(1024),
        headers: { 'content-type': 'application/octet-stream', ...headers },
      })
      return statusCode
    }
    const ofPeer = Array.from({ length: 200 }, () => submit({ 'x-peer-token': peerToken }))
    await expect.poll(() => count).toBe(200)
    const ofStranger = submit({})
    await expect.poll(() => count).toBe(201)
    append()
    expect(new Set(await Promise.all([...ofPeer, ofStranger]))).toEqual(new Set([200]))
  })

  it('of its network ends a wait after 1.75 s, or when the client leaves', async () => {
    const large = { ...routes, touch: { ...routes.touch, cost: () => 64 } }
    const clock = createManualClock()
    await using app = buildServer<typeof large, string>({
      routes: large,
      handlers: {
        ...handlers,
        touch: () =>
          new Promise((resolve) => {
            finish = () => resolve({ body: null })
          }),
      },
      prefix: null,
      rateLimit: { unitsPerSecond: 200 },
      authenticate: async () => 'alice',
      clock,
    })
    const waiting = () =>
      heldSizes().find(({ name }) => name === 'requests that wait for their network')?.size
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const post = (path: string, signal: AbortSignal | null = null) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        signal,
        ...(path === '/v0/items' ? { body: item } : {}),
      })
    const touched = post('/v0/touch')
    await expect.poll(() => finish).toBeDefined()
    const leave = new AbortController()
    const gone = expect(post('/v0/items', leave.signal)).rejects.toThrow()
    await expect.poll(waiting).toBe(1)
    leave.abort()
    await gone
    await expect.poll(waiting).toBe(0)
    const late = post('/v0/items')
    await expect.poll(waiting).toBe(1)
    await clock.advance(1750)
    await expect(await late).toAnswer(503)
    finish()
    await expect(await touched).toAnswer(200)
  })

  it('has a lower bound after a handler returns or throws OVERLOADED', async () => {
    const some = { ...routes, touch: { ...routes.touch, cost: () => 400 } }
    await using app = buildServer<typeof some, string>({
      routes: some,
      handlers: {
        ...handlers,
        touch: () =>
          new Promise((resolve) => {
            finish = () => resolve({ body: null })
          }),
        getItem: async () => ({ error: new ScanError('OVERLOADED', 'too many wait'), headers: {} }),
      },
      prefix: null,
      rateLimit: null,
      authenticate: async () => 'alice',
    })
    const post = async () =>
      (await app.inject({ method: 'POST', url: '/v0/items', payload: item })).statusCode
    const touched = app.inject({ method: 'POST', url: '/v0/touch' })
    await expect.poll(() => finish).toBeDefined()
    expect(await post()).toBe(200)
    expect((await app.inject('/v0/items/a?page_size=1')).statusCode).toBe(503)
    expect(await post()).toBe(503)
    finish()
    expect((await touched).statusCode).toBe(200)
    expect(await post()).toBe(200)
  })

  it('does not count requests that wait', async () => {
    let happen = () => {}
    await using app = buildServer<typeof heavy, string>({
      routes: heavy,
      handlers: {
        ...handlers,
        async touch(request) {
          await request.waiting(
            () =>
              new Promise<void>((resolve) => {
                happen = resolve
              }),
          )
          await new Promise<void>((resolve) => {
            finish = resolve
          })
          return { body: null }
        },
      },
      prefix: null,
      rateLimit: null,
      authenticate: async () => 'alice',
    })
    const post = async () =>
      (await app.inject({ method: 'POST', url: '/v0/items', payload: item })).statusCode
    const touched = app.inject({ method: 'POST', url: '/v0/touch' })
    expect(await post()).toBe(200)
    happen()
    await expect.poll(() => finish).toBeDefined()
    expect(await post()).toBe(503)
    finish()
    expect((await touched).statusCode).toBe(200)
    expect(await post()).toBe(200)
  })

  it('is refused after its body was read, too, if the bound is reached by then', async () => {
    await using app = server()
    const payload = new PassThrough()
    const headers = { 'content-type': 'application/json', 'content-length': String(item.length) }
    const slow = app.inject({ method: 'POST', url: '/v0/items', payload, headers })
    payload.write(item.slice(0, 1))
    await expect.poll(() => payload.readableLength).toBe(0)
    const touched = app.inject({ method: 'POST', url: '/v0/touch' })
    await expect.poll(() => finish).toBeDefined()
    payload.end(item.slice(1))
    expect((await slow).statusCode).toBe(503)
    finish()
    expect((await touched).statusCode).toBe(200)
  })
})

describe('the rate limit', () => {
  it('refuses with 429 before anything is read, says when to come back, and refills', async () => {
    const clock = createManualClock()
    let calls = 0
    const server = serve(
      {
        putItem: async ({ body }) => {
          calls++
          return { body }
        },
      },
      { rateLimit: { unitsPerSecond: 2 }, clock },
    )
    const post = (payload: string) => server.inject({ method: 'POST', url: '/v0/items', payload })
    expect((await post(item)).statusCode).toBe(200)
    expect((await post('{')).statusCode).toBe(400)
    const refused = await post('{')
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '1'])
    expect(refused.json()).toMatchObject({ code: 'RATE_LIMITED', definite: true, retryable: true })
    expect((await server.inject('/v0/nothing')).statusCode).toBe(429)
    expect((await server.inject('/livez')).statusCode).toBe(200)
    await clock.advance(1000)
    expect((await post(item)).statusCode).toBe(200)
    expect(calls).toBe(2)
  })

  it.each([
    ['without unknown members', 0, 200],
    ['with 15 kB of unknown members', 15_000, 200],
    ['with 900 kB of unknown members', 900_000, 429],
  ])('a body %s costs units by its size', async (_, unknownBytes, next) => {
    const server = serve({}, { rateLimit: { unitsPerSecond: 10 }, clock: createManualClock() })
    const payload = JSON.stringify({ name: 'a', unknown: 'x'.repeat(unknownBytes) })
    const post = () => server.inject({ method: 'POST', url: '/v0/items', payload })
    expect((await post()).statusCode).toBe(200)
    expect((await post()).statusCode).toBe(next)
  })

  it.each([
    ['rows that it reads', 75, 0, 15],
    ['rows that it reads before it fails', 75, null, 15],
    ['JSON that is made for it', 0, 61_400, 15],
    ['both', 50, 20_400, 15],
    ['a cost that is higher', 4, 0, 1],
  ])('a request pays for %s afterwards', async (_, rows, bytes, units) => {
    const clock = createManualClock()
    const server = serve(
      {
        async listItems(request) {
          request.countRows(rows)
          if (bytes === null) throw new ScanError('NOT_READY', 'not now')
          return { body: { seen: 'x'.repeat(bytes) } }
        },
      },
      { rateLimit: { unitsPerSecond: 10 }, clock },
    )
    const read = () => server.inject('/v0/lists')
    expect((await read()).statusCode).toBe(bytes === null ? 503 : 200)
    for (let left = 10 - units; left > 0; left--) expect((await read()).statusCode).toBe(200)
    // The client waits until its debt is paid, and for the unit of the next request.
    const refused = await read()
    const waitS = Math.max(1, Math.ceil((units - 9) / 10))
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, String(waitS)])
  })

  it('a request above the budget is served once on credit, then the client waits', async () => {
    const clock = createManualClock()
    const dear = { ...routes, putItem: { ...routes.putItem, cost: () => 21 } }
    const server = buildServer<typeof dear, string>({
      routes: dear,
      handlers,
      prefix: null,
      rateLimit: { unitsPerSecond: 10 },
      clock,
      authenticate: async () => 'alice',
    })
    const post = () => server.inject({ method: 'POST', url: '/v0/items', payload: item })
    expect((await post()).statusCode).toBe(200)
    const refused = await post()
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '2'])
    await clock.advance(1200)
    expect((await post()).statusCode).toBe(200)
  })
})
