/** The HTTP edge of direct lookups: what is asked of the nodes, and what of all that they may say is a vote. */
import { canonicalJson, formatInstant, type Json } from '@quorumscan/consensus'
import { createTestNetwork, scansBody, signAddress } from '@quorumscan/testkit'
import nock from 'nock'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../platform/clock.ts'
import type { Store } from '../platform/store.ts'
import { createScan, type ScanOptions } from '../scan.ts'
import { createValidator } from '../validator.ts'

const ALICE = 'alice.unverified.ns'
const NOBODY = 'nobody.unverified.ns'
const PARTY = `alice::1220${'a'.repeat(64)}`
const NAMES = ['sv-1', 'sv-2', 'sv-3', 'sv-4'] as const
const HEAD = 7
const JSON_TYPE = { 'content-type': 'application/json' }
const urlOf = (name: string) => `https://${name}.scan.test`

type Answer = [status: number, body: string, headers: Record<string, string>]
type Asked = {
  readonly uri: string
  readonly headers: Record<string, string>
  readonly body: string
}

const { genesis, genesisHash, scans: keys } = createTestNetwork()
/** What the nodes say of where they are, signed; by default at their own addresses. */
const scansOf = (urls: readonly string[]) =>
  scansBody(
    keys.map((key, index) => {
      const name = `sv-${index + 1}`
      return signAddress(key, { genesisHash, name, url: urls[index] ?? urlOf(name), sequence: 1 })
    }),
  )
let scans = scansOf([])
let asked: Asked[]
const recordTime = systemClock.nowMicros()

const position = (offset: number) => ({
  ...JSON_TYPE,
  'x-ledger-head': String(HEAD),
  'x-ledger-offset': String(offset),
  'x-ledger-record-time': formatInstant(recordTime),
  'x-ledger-history-hash': 'ab'.repeat(32),
})
const honest = (body: string): Answer => {
  const { lookups, at_offset: offset } = JSON.parse(body) as {
    lookups: { name?: string }[]
    at_offset?: number
  }
  const results = lookups.map(({ name }) => ({
    entry:
      name === ALICE
        ? {
            contract_id: null,
            user: PARTY,
            name,
            url: '',
            description: '',
            expires_at: null,
          }
        : null,
  }))
  return [200, JSON.stringify({ results }), position(offset ?? HEAD)]
}
const broken = (change: (answer: Answer) => Answer) => (body: string) => change(honest(body))
const error = (code: string) =>
  JSON.stringify({
    error: code,
    code,
    definite: true,
    retryable: true,
    request_id: 'r',
    details: null,
  })

/** Whatever a node does that is no vote. */
const FAILURES: Record<string, (body: string) => Answer> = {
  'sends us elsewhere': broken(([, body, headers]) => [
    303,
    body,
    { ...headers, location: 'https://elsewhere.test/' },
  ]),
  // With a body that would be an answer, were the status not what it is.
  'says that it is not found': broken(([, body, headers]) => [
    404,
    body.replace(/\{"entry":\{[^}]*\}\}/, '{"entry":null}'),
    headers,
  ]),
  'has no budget for us': broken(([, , headers]) => [
    429,
    error('RATE_LIMITED'),
    { ...headers, 'retry-after': '1' },
  ]),
  'fails without a word': broken(() => [500, '', {}]),
  'answers nothing': broken(([status, , headers]) => [status, '', headers]),
  'answers half': broken(([status, body, headers]) => [status, body.slice(0, -5), headers]),
  'answers a page': broken(() => [200, '<h1>Welcome</h1>', { 'content-type': 'text/html' }]),
  'does not say at which offset': broken(([status, body]) => [status, body, JSON_TYPE]),
  'answers for another name': broken(([status, body, headers]) => [
    status,
    body.replaceAll(ALICE, 'bob.unverified.ns'),
    headers,
  ]),
}

/** Node by node, in order of the genesis. Where they send us, somebody answers who has no vote. */
function serve(...behaviours: readonly ((body: string) => Answer)[]): void {
  nock('https://elsewhere.test')
    .persist()
    .get('/')
    .reply(200, '{"results":[{"entry":null}]}', position(HEAD))
  for (const [index, name] of NAMES.entries())
    nock(urlOf(name))
      .persist()
      .get('/v0/scans')
      .reply(200, scans, JSON_TYPE)
      .post('/v0/ans-entries/batch')
      .reply(function (uri, body) {
        const text = typeof body === 'string' ? body : JSON.stringify(body)
        const headers = Object.fromEntries(new Headers(this.req.headers as HeadersInit))
        asked.push({ uri, headers, body: text })
        return (behaviours[index] ?? honest)(text)
      })
}
const connect = (options: Partial<ScanOptions> = {}) =>
  createScan({ seeds: [urlOf('sv-1')], genesis, ...options })

beforeAll(() => {
  nock.disableNetConnect()
})
afterEach(() => {
  nock.abortPendingRequests()
  nock.cleanAll()
})
afterAll(() => nock.restore())

describe('a lookup', () => {
  it('is put to all nodes at one offset, in the way that a browser asks without a preflight', async () => {
    asked = []
    serve()
    await using scan = connect()
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
    expect(await scan.names.resolve(NOBODY)).toBeNull()
    const lookups = asked.filter(({ body }) => body.includes(ALICE))
    expect(new Set(lookups.map(({ headers }) => headers['host']))).toEqual(
      new Set(NAMES.map((name) => new URL(urlOf(name)).host)),
    )
    for (const { headers, body } of lookups) {
      expect(JSON.parse(body)).toMatchObject({ lookups: [{ name: ALICE }], at_offset: HEAD })
      expect(headers['content-type']).toBe('text/plain')
      expect(
        Object.keys(headers).filter((name) => /^(authorization|cookie|x-)/.test(name)),
      ).toEqual([])
    }
  })

  it('ends at its deadline where nodes hang', async () => {
    asked = []
    for (const name of NAMES)
      nock(urlOf(name)).persist().get('/v0/scans').delay(60_000).reply(200, scans, JSON_TYPE)
    await using scan = connect()
    await expect(scan.names.resolve(ALICE, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      definite: true,
    })
  })

  it('of which the nodes only lag is repeated, and then says so', async () => {
    asked = []
    const lagging = (body: string): Answer => {
      const answer = honest(body)
      // Their heads they tell.
      return body.includes('at_offset') ? [503, error('OFFSET_NOT_REACHED'), answer[2]] : answer
    }
    serve(lagging, lagging, lagging, lagging)
    await using scan = connect()
    await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({
      code: 'CONSENSUS_LAGGING',
      retryable: true,
      details: { outcome: { reason: 'not-reached' } },
    })
    const first = asked.filter(({ body, headers }) => {
      return body.includes(ALICE) && headers['host'] === new URL(urlOf('sv-1')).host
    })
    expect(first.length).toBeGreaterThanOrEqual(3)
  })
})

describe('more lookups than the nodes take from one address', () => {
  const names = Array.from({ length: 300 }, (_, index) => (index === 299 ? ALICE : `name-${index}`))
  /** Refuses the batch with alice for so long. */
  const limited = (refusalMs: number) => {
    const untilMs = systemClock.monotonicMs() + refusalMs
    return (body: string): Answer =>
      body.includes(ALICE) && systemClock.monotonicMs() < untilMs
        ? [429, error('RATE_LIMITED'), { ...JSON_TYPE, 'retry-after': '1' }]
        : honest(body)
  }

  it('are waited for', async () => {
    asked = []
    serve(...NAMES.map(() => limited(900)))
    await using scan = connect()
    const found = await scan.names.resolveMany(names)
    expect(found).toHaveLength(300)
    expect(found.filter((party) => party !== null)).toEqual([PARTY])
  })

  it('are refused as such where the deadline leaves no time to wait', async () => {
    asked = []
    serve(...NAMES.map(() => limited(10_000)))
    await using scan = connect({ timeoutMs: 900 })
    await expect(scan.names.resolveMany(names)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      definite: true,
      retryable: true,
      retryAfterMs: expect.closeTo(1000, -3),
      message: expect.stringContaining('fewer at a time'),
    })
  })
})

describe.each(Object.entries(FAILURES))('a node that %s', (_, failure) => {
  it('has no vote: two honest ones decide', async () => {
    asked = []
    serve(failure, failure)
    await using scan = connect({ seeds: NAMES.map(urlOf) })
    expect(await scan.names.lookup(ALICE, { receipt: false })).toMatchObject({
      kind: 'verified',
      agreed: ['sv-3', 'sv-4'],
      dissented: [],
    })
  })

  it('makes no absence, however many do so', async () => {
    asked = []
    serve(failure, failure, failure, failure)
    await using scan = connect({ seeds: NAMES.map(urlOf), timeoutMs: 1000 })
    await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({
      code: expect.stringMatching(/^(NOT_ENOUGH_NODES|CONSENSUS_LAGGING|RATE_LIMITED)$/),
      definite: true,
      retryable: true,
    })
  })
})

describe('a genesis pinned by its hash', () => {
  const wrong = { nonce: 'cd'.repeat(32) }
  const genesisText = () => canonicalJson(genesis as unknown as Json)

  it('is taken from whichever seed has the right one', async () => {
    asked = []
    serve()
    nock(urlOf('sv-1'))
      .get('/v0/genesis')
      .reply(200, { ...genesis, ...wrong })
    nock(urlOf('sv-2')).get('/v0/genesis').reply(307, '', { location: 'https://elsewhere.test/' })
    nock(urlOf('sv-3')).get('/v0/genesis').reply(200, genesisText())
    const seeds = ['sv-1', 'sv-2', 'sv-3'].map(urlOf)
    await using scan = connect({ seeds, genesis: genesisHash })
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
  })

  it('of another network is refused; the next call asks again', async () => {
    asked = []
    serve()
    nock(urlOf('sv-1'))
      .get('/v0/genesis')
      .reply(200, { ...genesis, ...wrong })
    await using scan = connect({ genesis: genesisHash })
    await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({
      code: 'WRONG_GENESIS',
      definite: true,
      message: expect.stringContaining('Are the seeds reachable'),
    })
    nock(urlOf('sv-1')).get('/v0/genesis').reply(200, genesisText())
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
  })
})

describe('a store', () => {
  it('that cannot be read keeps reads from going back unseen: they are refused until it can', async () => {
    asked = []
    serve()
    let isBroken = true
    const store: Store = {
      get: async () => (isBroken ? Promise.reject(new Error('locked')) : null),
      set: () => {},
    }
    await using scan = connect({ store })
    await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      definite: true,
      retryable: true,
    })
    isBroken = false
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
  })

  it('that cannot be written loses what it should keep, and no lookup', async () => {
    asked = []
    serve()
    const full: Store = { get: () => null, set: () => Promise.reject(new Error('full')) }
    await using scan = connect({ store: full })
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
    expect(await scan.names.resolve(NOBODY)).toBeNull()
  })
})

it.each([
  ['passed over', {}, null],
  ['asked where that is allowed', { allowPrivateAddresses: true }, 'http://192.168.0.1'],
])('a private address that a node says it has is %s', async (_, options, url) => {
  asked = []
  const known = scans
  scans = scansOf(['http://192.168.0.1'])
  serve()
  scans = known
  await using scan = connect({ seeds: [urlOf('sv-2')], ...options })
  expect(await scan.names.resolve(ALICE)).toBe(PARTY)
  expect(scan.status()?.nodes[0]?.url).toBe(url)
})

it.each([
  ['no seeds', { seeds: [] }],
  ['a seed that is no URL', { seeds: ['sv-1'] }],
  ['a text for seeds', { seeds: 'https://sv-1.test' as unknown as string[] }],
  ['a seed with a host that is none', { seeds: ['https://[sv-1]'] }],
  ['a seed with credentials', { seeds: ['https://me:secret@sv-1.test'] }],
  ['a seed with a query', { seeds: ['https://sv-1.test/?a'] }],
  ['a hash that is none', { genesis: 'abc' }],
])('%s is refused at once', (_, options) => {
  expect(() => connect(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
})

it('what is no number of milliseconds, no array of names, or out of bounds is refused by the call', async () => {
  const refused = { code: 'INVALID_ARGUMENT', definite: true, retryable: false }
  asked = []
  serve()
  await using scan = connect()
  const validator = createValidator({ url: 'https://validator.test' })
  for (const { names } of [scan, validator]) {
    await expect(names.resolve(ALICE, { timeoutMs: Number.NaN })).rejects.toMatchObject(refused)
    await expect(names.resolve(ALICE, { minOffset: -1 })).rejects.toMatchObject(refused)
    await expect(names.resolve(ALICE, { maxAgeMs: Number.NaN })).rejects.toMatchObject(refused)
    await expect(names.resolveMany('abc' as unknown as string[])).rejects.toMatchObject(refused)
  }
})

it('a genesis document that is none is refused by the first lookup, before anything is asked', async () => {
  asked = []
  serve()
  await using scan = connect({ genesis: { ...genesis, nodes: [] } })
  await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('nodes'),
  })
  expect(asked).toEqual([])
})
