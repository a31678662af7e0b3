/**
 * Random requests: the status is never 500, errors have the body of D-6, answers the head (D-7, D-10).
 *
 * @module-tag rest
 */

import { codeByPattern } from '@quorumscan/api'
import { catalogue } from '@quorumscan/errors'
import { untilTrue } from '@quorumscan/testkit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openScan } from './parts.ts'
import { createServer } from './server.ts'
import { startNetwork } from './testing/network.ts'

const RUNS = 1_000

const name = fc.oneof(
  fc.constantFrom(
    'dso.ns',
    'sv-1.sv.ns',
    '',
    '__proto__',
    'constructor',
    '\u0000',
    '*',
    '[a',
    '(b',
  ),
  fc.string({ unit: 'binary', maxLength: 300 }),
)
const party = fc.oneof(
  fc.constantFrom(`DSO::1220${'cd'.repeat(32)}`, `a::1220${'0'.repeat(64)}`, 'a::b', '::'),
  fc.string({ maxLength: 40 }),
)
const number = fc.oneof(
  fc.constantFrom('0', '1', '-1', '1e3', ' 5', '0x10', '9007199254740993', 'NaN', '', '1.5'),
  fc.integer().map(String),
)
const token = fc.oneof(fc.stringMatching(/^[A-Za-z0-9_-]{1,60}$/), fc.string({ maxLength: 60 }))
/** As a path segment: usually encoded, sometimes raw. */
const segment = (text: fc.Arbitrary<string>) =>
  fc
    .tuple(text, fc.boolean())
    .map(([raw, isRaw]) =>
      isRaw ? raw.replace(/[^!-~]/g, '%') : encodeURIComponent(raw.toWellFormed()),
    )
const query = fc.record(
  {
    name_prefix: name,
    page_size: fc.oneof(fc.constantFrom('1', '1000', '0', '1001', 'abc'), number),
    page_token: token,
    shared: fc.constantFrom('true', 'false', 'yes'),
    x: name,
  },
  { requiredKeys: [] },
)
const path = fc.oneof(
  fc.constantFrom(
    '/v0/ans-entries',
    '/v0/dso',
    '/v0/scans',
    '/v0/dso-party-id',
    '/v0/genesis',
    '/status',
    '/nowhere',
  ),
  segment(name).map((text) => `/v0/ans-entries/by-name/${text}`),
  segment(party).map((text) => `/v0/ans-entries/by-party/${text}`),
  segment(party).map((text) => `/v0/ans-entries/by-party/${text}/all`),
)
const headers = fc.record(
  {
    'x-read-at-offset': number,
    'x-request-id': fc.stringMatching(/^[ -~]{0,80}$/),
    'content-type': fc.constantFrom('application/json', 'text/plain', 'image/png', ';'),
    authorization: fc.constantFrom('Bearer x', 'Bearer Bearer x'),
    origin: fc.constantFrom('null', 'https://a.example'),
  },
  { requiredKeys: [] },
)
const anything = fc.anything({ maxDepth: 3, withNullPrototype: true })
const batch = fc.record(
  {
    lookups: fc.oneof(
      fc.array(
        fc.oneof(
          fc.record(
            { name: fc.oneof(name, anything), party: fc.oneof(party, anything) },
            {
              requiredKeys: [],
            },
          ),
          anything,
        ),
        { maxLength: 5 },
      ),
      anything,
    ),
    at_offset: fc.oneof(fc.integer(), anything),
    min_offset: fc.oneof(fc.integer(), anything),
  },
  { requiredKeys: ['lookups'] },
)
const activities = fc.record(
  {
    page_size: fc.oneof(fc.integer({ min: -1, max: 1001 }), anything),
    begin_after_id: fc.oneof(
      fc.stringMatching(/^[0-9]{16}:[0-9]{4}$/),
      fc.string({ unit: 'binary' }),
      anything,
    ),
    sort_order: fc.oneof(fc.constantFrom('asc', 'desc'), anything),
  },
  { requiredKeys: ['page_size'] },
)
const body = fc.oneof(
  batch.map(stringify),
  activities.map(stringify),
  anything.map(stringify),
  fc.string({ unit: 'binary', maxLength: 100 }),
)
const postPath = fc.constantFrom(
  '/v0/ans-entries/batch',
  '/v0/activities',
  '/v0/ans-rules',
  '/api/scan//v0/ans-rules',
)

type BadRequest = {
  readonly url: string
  readonly method?: 'POST' | 'PUT'
  readonly headers?: Record<string, string>
  readonly payload?: string
}

/** JSON of values, which may contain values that JSON cannot represent. */
function stringify(value: unknown): string {
  try {
    return JSON.stringify(value, (_key, member) =>
      typeof member === 'bigint' ? Number(member) : member,
    )
  } catch {
    return String(value)
  }
}

it('no request gets a 500, and every error has a code and the offset of the head', async () => {
  await using network = await startNetwork(1)
  await using parts = await openScan(await network.config(0))
  await untilTrue('the replica to be live', () => parts.follower.replica.state() === 'live')
  const server = createServer(parts, () => 0)
  const request = fc.oneof(
    fc.record({ method: fc.constant('GET' as const), path, query, headers }),
    fc.record({ method: fc.constant('POST' as const), path: postPath, headers, body }),
    fc.record({
      method: fc.constantFrom(
        'PUT' as const,
        'DELETE' as const,
        'OPTIONS' as const,
        'HEAD' as const,
      ),
      path,
      headers,
    }),
  )
  await fc.assert(
    fc.asyncProperty(request, async (input) => {
      const search =
        'query' in input && Object.keys(input.query).length > 0
          ? `?${Object.entries(input.query)
              .map(([key, value]) => `${key}=${encodeURIComponent((value ?? '').toWellFormed())}`)
              .join('&')}`
          : ''
      const answer = await server.inject({
        method: input.method,
        url: input.path + search,
        headers: input.headers,
        ...('body' in input ? { payload: input.body } : {}),
      })
      expect(answer.statusCode, answer.body).not.toBe(500)
      expect(answer.headers['x-ledger-head']).toMatch(/^[0-9]+$/)
      if (answer.statusCode < 400 || input.method === 'HEAD') return
      const error = answer.json()
      expect(catalogue).toHaveProperty(error.code)
      expect(error).toMatchObject({
        error: expect.any(String),
        definite: expect.any(Boolean),
        retryable: expect.any(Boolean),
        request_id: expect.stringMatching(/^[A-Za-z0-9-]{1,64}$/),
      })
    }),
    { numRuns: RUNS },
  )
  // Every code that a bad request can get, by one request each: random ones need not reach them all.
  const offset = { 'x-read-at-offset': '9007199254740991' }
  const json = { 'content-type': 'application/json' }
  const image = { 'content-type': 'image/png' }
  const bad: readonly [BadRequest, number, string][] = [
    [{ url: '/v0/ans-entries?page_size=0' }, 400, 'INVALID_ARGUMENT'],
    [{ url: '/v0/ans-entries?page_size=1001' }, 400, 'INVALID_ARGUMENT'],
    [{ url: '/v0/ans-entries?page_size=abc' }, 400, 'INVALID_ARGUMENT'],
    [{ url: '/v0/ans-entries/by-party/unknown' }, 400, 'INVALID_PARTY'],
    [{ url: '/v0/ans-entries?page_size=1&page_token=*' }, 400, 'INVALID_PAGE_TOKEN'],
    [{ url: '/v0/ans-entries/by-name/free.unverified.ns' }, 404, 'ENTRY_NOT_FOUND'],
    [{ url: '/v0/dso', headers: offset }, 503, 'OFFSET_NOT_REACHED'],
    [{ url: '/nowhere' }, 404, 'ROUTE_NOT_FOUND'],
    [{ url: '/v0/dso', method: 'PUT' }, 405, 'METHOD_NOT_ALLOWED'],
    [{ url: '/v0/activities', method: 'POST', payload: '{', headers: json }, 400, 'MALFORMED_BODY'],
    [
      { url: '/v0/activities', method: 'POST', payload: 'x', headers: image },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
  ]
  for (const [request, status, code] of bad) {
    const answer = await server.inject({ method: 'GET', ...request })
    expect([answer.statusCode, answer.json().code], request.url).toEqual([status, code])
  }
  expect(bad.map(([, , code]) => code)).toEqual(
    expect.arrayContaining(Object.values(codeByPattern)),
  )
  await server.close()
})
