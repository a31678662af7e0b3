/** Bad input at the public surfaces always gets the body of D-6 and the right status, never a 500. */
import { type HttpAnswer, send } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { createUser, untilFound } from './client.ts'

const it = base
  .extend('cluster', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startCluster({ nodes: 1 })),
  )
  .extend('user', { scope: 'file' }, async ({ cluster }) => {
    const user = await createUser(cluster, 'alice')
    await user.pay('taken.unverified.ns')
    await untilFound(cluster, 'taken.unverified.ns')
    return user
  })
  /** After the user has registered. */
  .extend('bases', { scope: 'file' }, ({ cluster, user: _ }) => ({
    scan: `${cluster.urls.nodes['sv-1']}/api/scan/v0/ans-entries`,
    proxy: `${cluster.urls.validator}/api/validator/v0/scan-proxy/ans-entries`,
    validator: `${cluster.urls.validator}/v0`,
  }))
  .extend(
    'create',
    ({ user, bases }) =>
      (fields: Record<string, unknown>, token = user.token) =>
        send(`${bases.validator}/entry/create`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'fine.unverified.ns', url: '', description: '', ...fields }),
        }),
  )

function expectError(answer: HttpAnswer, status: number, code: string) {
  expect({ status: answer.status, code: answer.body?.code }, JSON.stringify(answer.body)).toEqual({
    status,
    code,
  })
  expect(Object.keys(answer.body).sort()).toEqual([
    'code',
    'definite',
    'details',
    'error',
    'request_id',
    'retryable',
  ])
  expect(answer.body.error.length).toBeGreaterThan(10)
}

describe.each(['scan', 'proxy'] as const)('lookups of the %s', (surface) => {
  it.for([
    ['/by-name/missing.unverified.ns', 404, 'ENTRY_NOT_FOUND'],
    ['/by-name/a%20b%2F%C3%BC.unverified.ns', 404, 'ENTRY_NOT_FOUND'],
    ['/by-party/alice', 400, 'INVALID_PARTY'],
    ['/by-party/alice%3A%3A1220dd', 400, 'INVALID_PARTY'],
    ['/by-party/%00', 400, 'INVALID_PARTY'],
    ['', 400, 'INVALID_ARGUMENT'],
    ['?page_size=0', 400, 'INVALID_ARGUMENT'],
    ['?page_size=1001', 400, 'INVALID_ARGUMENT'],
    ['?page_size=abc', 400, 'INVALID_ARGUMENT'],
    ['?page_size=-1', 400, 'INVALID_ARGUMENT'],
    ['?page_size=1.5', 400, 'INVALID_ARGUMENT'],
    ['?page_size=10&page_token=nonsense', 400, 'INVALID_PAGE_TOKEN'],
  ] as const)('%s is %i %s', async ([path, status, code], { bases }) => {
    expectError(await send(bases[surface] + path), status, code)
  })

  it('refuse a batch that is not an array of at most 256 names or parties', async ({
    bases,
    user,
  }) => {
    const batch = (body: unknown) =>
      send(`${bases[surface]}/batch`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
    expectError(await batch({}), 400, 'INVALID_ARGUMENT')
    expectError(await batch({ lookups: [{}] }), 400, 'INVALID_ARGUMENT')
    expectError(await batch({ lookups: [{ party: 'alice' }] }), 400, 'INVALID_PARTY')
    expectError(await batch({ lookups: Array(257).fill({ name: 'a' }) }), 400, 'INVALID_ARGUMENT')
    expectError(await batch('{"lookups":'), 400, 'MALFORMED_BODY')
    expect((await batch({ lookups: [] })).body).toEqual({ results: [] })
    const mixed = await batch({
      lookups: [
        { name: 'taken.unverified.ns' },
        { name: 'missing.unverified.ns' },
        { party: user.party },
      ],
    })
    expect(mixed.body.results[0].entry.user).toBe(user.party)
    expect(mixed.body.results[1]).toEqual({ entry: null })
    expect(mixed.body.results[2]).toEqual(mixed.body.results[0])
  })

  it('accept a GET with a content type and a POST without one, as upstream clients send', async ({
    bases,
  }) => {
    const list = await send(`${bases[surface]}?page_size=5&name_prefix=tak`, {
      headers: { 'content-type': 'application/json' },
    })
    expect(list.body.entries.map((entry: { name: string }) => entry.name)).toEqual([
      'taken.unverified.ns',
    ])
    const rules = await send(bases[surface].replace('ans-entries', 'ans-rules'), {
      method: 'POST',
      body: '{}',
    })
    expect(rules).toAnswer(200)
  })
})

describe('pages', () => {
  it('contain every name once, in byte order, at one offset', async ({ bases }) => {
    const names: string[] = []
    let token = ''
    do {
      const page = await send(
        `${bases.proxy}?page_size=1${token === '' ? '' : `&page_token=${encodeURIComponent(token)}`}`,
      )
      expect(page.status, JSON.stringify(page.body)).toBe(200)
      names.push(...page.body.entries.map((entry: { name: string }) => entry.name))
      token = page.body.next_page_token ?? ''
    } while (token !== '')
    expect(names).toEqual(['dso.ns', 'sv-1.sv.ns', 'taken.unverified.ns'])
  })
})

describe('reads at an offset', () => {
  it.for([
    ['-1', 400, 'INVALID_ARGUMENT'],
    ['x', 400, 'INVALID_ARGUMENT'],
    ['9007199254740993', 400, 'INVALID_ARGUMENT'],
    ['9007199254740991', 503, 'OFFSET_NOT_REACHED'],
  ] as const)(
    'on a node, x-read-at-offset: %s is %i %s',
    async ([offset, status, code], { bases }) => {
      expectError(
        await send(`${bases.scan}/by-name/taken.unverified.ns`, {
          headers: { 'x-read-at-offset': offset },
        }),
        status,
        code,
      )
    },
  )

  it.for(['0', '2', '-1', '2f+2x', 'Weak', ''])(
    'a threshold of %j is refused with n = 1',
    async (quorum, { bases }) => {
      const answer = await send(`${bases.proxy}/by-name/taken.unverified.ns`, {
        headers: { 'x-quorum': quorum },
      })
      expectError(answer, 400, 'INVALID_QUORUM')
    },
  )

  it('have the outcome trusted, not verified, with f = 0', async ({ bases }) => {
    const answer = await send(`${bases.proxy}/by-name/taken.unverified.ns`)
    expect(answer.headers.get('x-quorum-outcome')).toBe('trusted')
  })
})

describe('registration', () => {
  it.for([
    [{ name: 'fine' }, 400, 'NAME_SUFFIX_MISSING'],
    [{ name: 'Fine.unverified.ns' }, 400, 'INVALID_NAME'],
    [{ name: `${'a'.repeat(47)}.unverified.ns` }, 400, 'INVALID_NAME'],
    [{ url: 'gopher://x' }, 400, 'INVALID_URL'],
    [{ description: 'x'.repeat(141) }, 400, 'INVALID_DESCRIPTION'],
    [{ description: 'lone \ud800 surrogate' }, 400, 'INVALID_DESCRIPTION'],
    [{ description: 7 }, 400, 'INVALID_ARGUMENT'],
    [{ name: undefined }, 400, 'INVALID_ARGUMENT'],
    [{ name: 'taken.unverified.ns' }, 409, 'NAME_TAKEN'],
  ] as const)('%j is %i %s', async ([fields, status, code], { create }) => {
    const answer = await create(fields)
    expectError(answer, status, code)
    // The refusal names the rule that was broken.
    if (code.startsWith('INVALID_') && code !== 'INVALID_ARGUMENT')
      expect(answer.body.details.rule).toMatch(/^a |^the /)
  })

  it('returns the needed and available amounts if coin is insufficient', async ({
    cluster,
    bases,
  }) => {
    const poor = await createUser(cluster, 'poor', null)
    const request = await poor.request('poor.unverified.ns')
    const answer = await send(`${bases.validator}/wallet/subscription-requests/${request}/accept`, {
      method: 'POST',
      headers: { authorization: `Bearer ${poor.token}` },
    })
    expectError(answer, 400, 'INSUFFICIENT_FUNDS')
    expect(answer.body.details).toMatchObject({
      needed: '200.0000000000',
      available: '0.0000000000',
    })
  })

  it.for([
    ['no token', {}],
    ['no bearer', { authorization: 'Basic YTpi' }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['a malformed token', { authorization: 'Bearer a.b.c' }],
    ['an unsigned token', { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.' }],
  ] as const)('with %s is 401', async ([_title, headers], { bases }) => {
    expectError(await send(`${bases.validator}/entry/all`, { headers }), 401, 'UNAUTHENTICATED')
  })

  it("returns CONTRACT_NOT_FOUND for another user's request", async ({ user, cluster, bases }) => {
    const request = await user.request('mine.unverified.ns')
    const other = await createUser(cluster, 'mallory')
    const answer = await send(`${bases.validator}/wallet/subscription-requests/${request}/accept`, {
      method: 'POST',
      headers: { authorization: `Bearer ${other.token}` },
    })
    expectError(answer, 404, 'CONTRACT_NOT_FOUND')
  })

  it('returns CONTRACT_CONSUMED for a second payment of one request', async ({ user, bases }) => {
    const request = await user.request('once.unverified.ns')
    await user.accept(request)
    const again = await send(`${bases.validator}/wallet/subscription-requests/${request}/accept`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.token}` },
    })
    expectError(again, 409, 'CONTRACT_CONSUMED')
  })

  it.for(['-1', '0', '1e3', 'NaN', '0.00000000001', '1'.repeat(40), ' 1'])(
    'tapping %j is refused',
    async (amount, { bases, user }) => {
      const answer = await send(`${bases.validator}/wallet/tap`, {
        method: 'POST',
        headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ amount }),
      })
      expectError(answer, 400, 'INVALID_ARGUMENT')
    },
  )
})

describe('HTTP itself', () => {
  it.for([
    ['/v0/nothing', 'GET', 404, 'ROUTE_NOT_FOUND'],
    ['/v0/entry/create', 'PUT', 405, 'METHOD_NOT_ALLOWED'],
    ['/v0/scan-proxy/ans-entries/by-name/%zz', 'GET', 400, 'MALFORMED_REQUEST'],
  ] as const)('%s %s is %i %s', async ([path, method, status, code], { cluster }) => {
    expectError(await send(cluster.urls.validator + path, { method }), status, code)
  })

  it('a body above the limit is 413', async ({ bases }) => {
    const answer = await send(`${bases.proxy}/batch`, {
      method: 'POST',
      body: JSON.stringify({ lookups: [], padding: 'x'.repeat(1_100_000) }),
    })
    expectError(answer, 413, 'BODY_TOO_LARGE')
  })
})
