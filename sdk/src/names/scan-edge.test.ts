/** The HTTP edge of direct lookups: requests to nodes, and which of their replies prove an answer. */

import {
  createSignedState,
  createTestNetwork,
  endingBefore,
  scansBody,
  signAddress,
  simEntry,
  until,
} from '@quorumscan/testkit'
import {
  canonicalJson,
  createPlatformCrypto,
  formatInstant,
  type Lookup,
} from '@quorumscan/verifier'
import {
  batchQuery,
  CERTIFIED_MEDIA_TYPE,
  entriesQuery,
  type HashedNetwork,
  nameQuery,
  partyEntriesQuery,
  partyQuery,
  type RangeQuery,
  sha256,
} from '@quorumscan/verifier/certified'
import nock from 'nock'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Clock, systemClock } from '../platform/clock.ts'
import { OPTIONAL_STORE_MS, STORE_MS } from '../platform/shared-store.ts'
import { createMemoryStore, type Store } from '../platform/store.ts'
import { verifyReceipt } from '../receipts.ts'
import { createScan, type ScanOptions } from '../scan.ts'
import { createValidator } from '../validator.ts'
import type { LookupOutcome } from './lookup-outcome.ts'
import type { FoundEntry, Listed, NameChange } from './lookup-types.ts'
import type { Names } from './names-type.ts'

const ALICE = 'alice.unverified.ns'
const BOB = 'bob.unverified.ns'
const ENDED = 'ended.unverified.ns'
const ABSENT = 'absent.unverified.ns'
const PARTY = `alice::1220${'a'.repeat(64)}`
const NAMES = ['sv-1', 'sv-2', 'sv-3', 'sv-4'] as const
const HEAD = 7
const WRITER_MS = 1000
const FAR_MICROS = 4_000_000_000_000_000
const FAR_MS = 600_000
const JSON_TYPE = { 'content-type': 'application/json' }
const urlOf = (name: string) => `https://${name}.scan.test`

/** The party of a lookup; null: the absence is proven. */
const partyOf = (outcome: LookupOutcome) =>
  outcome.kind === 'failed' ? outcome.error.code : (outcome.value?.party ?? null)

type Answer = [status: number, body: string, headers: Record<string, string>]
/** A request that a node gets; `uri` is its path and query. */
type Asked = {
  readonly uri: string
  readonly body: string
  readonly headers: Record<string, string>
}
type Behaviour = (asked: Asked) => Answer

const testNetwork = createTestNetwork()
const { genesis, genesisHash, scans: keys } = testNetwork
const network: HashedNetwork = { genesis, genesisHash, sha256 }
/** The signed address records of the nodes, by default with their own addresses. */
const scansOf = (urls: readonly string[]) =>
  scansBody(
    keys.map((key, index) => {
      const name = `sv-${index + 1}`
      return signAddress(key, { genesisHash, name, url: urls[index] ?? urlOf(name), sequence: 1 })
    }),
  )
let scans = scansOf([])
let asked: Asked[]
const RECORD_TIME = systemClock.nowMicros()
/** The state stays fresh, however long these tests take. */
const freshClock: Clock = { ...systemClock, nowMicros: () => RECORD_TIME + 1000 }
const user = (name: string) => simEntry(name, { user: PARTY, expiresAt: FAR_MICROS })
const state = createSignedState(testNetwork, {
  offset: HEAD,
  recordTime: RECORD_TIME,
  // The last one lived at the state's record time, which has passed.
  entries: [user(ALICE), user(BOB), simEntry(ENDED, { user: PARTY, expiresAt: RECORD_TIME + 1 })],
})
const document = (stateQuery: RangeQuery<unknown>, certificate?: string): Answer => [
  200,
  state.document(stateQuery, certificate),
  { 'content-type': CERTIFIED_MEDIA_TYPE },
]
const PAGE = { pageSize: 100, pageToken: null }
const queryOf = ({ uri, body }: Asked): RangeQuery<unknown> => {
  if (uri.includes('/all?')) return partyEntriesQuery(PARTY, PAGE, network)
  if (uri.includes('name_prefix=')) return entriesQuery('al', PAGE, network)
  if (uri.includes('by-party')) return partyQuery(PARTY, network)
  if (body === '') return nameQuery(decodeURIComponent(/by-name\/([^?]*)/.exec(uri)?.[1] ?? ''))
  return batchQuery((JSON.parse(body) as { lookups: Lookup[] }).lookups, network)
}
const honest: Behaviour = (request) =>
  request.uri.startsWith('/v0/certificate')
    ? [200, `{"certificate":${state.certificate()}}`, JSON_TYPE]
    : document(queryOf(request))
const broken =
  (change: (answer: Answer) => Answer): Behaviour =>
  (request) =>
    change(honest(request))
const error = (code: string) =>
  JSON.stringify({
    error: code,
    code,
    definite: true,
    retryable: true,
    request_id: 'r',
    details: null,
  })

/** A read ends with what is known shortly before its deadline. */
const untilTold = (timeoutMs: number) => endingBefore(timeoutMs, freshClock.nowMicros())

/** No other node is asked because one is slow. */
const WITHOUT_HEDGES = {
  ...freshClock,
  delay: (_ms: number, signal?: AbortSignal) => systemClock.delay(FAR_MS, signal),
}

/** Answers of a node that prove nothing. */
const FAILURES: Record<string, Behaviour> = {
  'redirects elsewhere': broken(([, body, headers]) => [
    303,
    body,
    { ...headers, location: 'https://elsewhere.test/' },
  ]),
  // With the body of a valid answer.
  'says that it is not found': broken(([, body, headers]) => [404, body, headers]),
  'has no budget for us': broken(([, , headers]) => [
    429,
    error('RATE_LIMITED'),
    { ...headers, 'retry-after': '1' },
  ]),
  'fails without a word': () => [500, '', {}],
  'answers nothing': broken(([status, , headers]) => [status, '', headers]),
  'answers half': broken(([status, body, headers]) => [status, body.slice(0, -5), headers]),
  'answers a page': () => [200, '<h1>Welcome</h1>', { 'content-type': 'text/html' }],
  'proves another name': () => document(nameQuery(BOB)),
  'has too few signatures': (request) => document(queryOf(request), state.certificate(0)),
  'signs for another': (request) =>
    document(queryOf(request), state.certificate(0, 2).replace('["sv-1"', '["sv-2"')),
}

/** The behaviour of each node, in order of the genesis. A redirect leads to no node. */
function serve(...behaviours: readonly Behaviour[]): void {
  nock('https://elsewhere.test')
    .persist()
    .get('/')
    .reply(200, honest({ uri: '', body: '', headers: {} })[1])
  for (const [index, name] of NAMES.entries()) {
    const reply = function (this: nock.ReplyFnContext, uri: string, body: nock.Body): Answer {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const headers = Object.fromEntries(new Headers(this.req.headers as HeadersInit))
      const request = { uri, headers, body: text }
      asked.push(request)
      return (behaviours[index] ?? honest)(request)
    }
    nock(urlOf(name))
      .persist()
      .get('/v0/scans')
      .reply(200, scans, JSON_TYPE)
      .get(/^\/v0\/(?:certificate|ans-entries.*)$/)
      .reply(reply)
      .post('/v0/ans-entries/batch')
      .reply(reply)
  }
}
const connect = (options: Partial<ScanOptions> = {}) =>
  createScan({ seeds: [urlOf('sv-1')], genesis, clock: freshClock, timeoutMs: FAR_MS, ...options })

beforeAll(() => {
  nock.disableNetConnect()
})
afterEach(() => {
  nock.abortPendingRequests()
  nock.cleanAll()
})
afterAll(() => nock.enableNetConnect())

describe('a lookup', () => {
  it('goes to one node, without a preflight of browsers', async () => {
    asked = []
    serve()
    await using scan = connect({ clock: WITHOUT_HEDGES })
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
    expect(await scan.names.resolve(ABSENT)).toBeNull()
    expect((await scan.names.resolveMany([ALICE, ABSENT])).map(partyOf)).toEqual([PARTY, null])
    const lookups = asked.filter(({ uri }) => !uri.startsWith('/v0/certificate'))
    expect(lookups.map(({ uri, body }) => `${uri} ${body}`.trim())).toEqual([
      `/v0/ans-entries/by-name/${ALICE}`,
      `/v0/ans-entries/by-name/${ABSENT}`,
      `/v0/ans-entries/batch ${JSON.stringify({ lookups: [{ name: ALICE }, { name: ABSENT }] })}`,
    ])
    for (const { headers } of lookups) {
      expect(headers['accept']).toBe(CERTIFIED_MEDIA_TYPE)
      expect(headers['content-type'] ?? 'text/plain').toBe('text/plain')
      expect(
        Object.keys(headers).filter((name) => /^(authorization|cookie|x-)/.test(name)),
      ).toEqual([])
    }
  })

  it('is verified by the hashed keys, even if the genesis object changes later', async () => {
    asked = []
    const liar = createTestNetwork({ network: 1 })
    const forged = createSignedState(
      { ...liar, genesisHash },
      { offset: HEAD, recordTime: RECORD_TIME, entries: [user(ALICE)] },
    )
    const forge: Behaviour = (request) =>
      request.uri.startsWith('/v0/certificate')
        ? [200, `{"certificate":${forged.certificate()}}`, JSON_TYPE]
        : [200, forged.document(queryOf(request)), { 'content-type': CERTIFIED_MEDIA_TYPE }]
    serve(forge, forge, forge, forge)
    let isHashed = false
    const platform = createPlatformCrypto()
    await using scan = connect({
      ...untilTold(300),
      genesis: {
        ...genesis,
        get nodes() {
          return isHashed ? liar.genesis.nodes : genesis.nodes
        },
      },
      crypto: {
        ...platform,
        sha256(bytes: Uint8Array<ArrayBuffer>) {
          isHashed = true
          return platform.sha256(bytes)
        },
      },
    })
    await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({
      name: 'QuorumscanError',
    })
    expect([isHashed, asked.length > 0]).toEqual([true, true])
  })

  it('sends the trace context that it is given', async () => {
    asked = []
    serve()
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`
    await using scan = connect({ traceparent })
    await scan.names.resolve(ALICE)
    expect(asked.at(-1)?.headers['traceparent']).toBe(traceparent)
  })

  it('asks others for their newest certificates, too', async () => {
    asked = []
    serve()
    await using scan = connect({ seeds: NAMES.map(urlOf) })
    const polls = () => asked.filter(({ uri }) => uri === '/v0/certificate')
    // Together with the first read that knows the addresses of others.
    await until('a poll', async () => {
      await scan.names.resolve(ALICE)
      return polls().length > 0 ? true : undefined
    })
    await scan.names.resolve(ALICE)
    expect(polls()).toHaveLength(1)
  })

  it('ends at its deadline if nodes hang', async () => {
    asked = []
    nock(urlOf('sv-1')).persist().get(/.*/).delay(60_000).reply(200, scans, JSON_TYPE)
    const { timeoutMs, clock } = untilTold(50)
    await using scan = connect({ clock })
    await expect(scan.names.resolve(ALICE, { timeoutMs })).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
      definite: true,
    })
  })

  it('ends with the reason of the signal, or with CLOSED once the client is closed', async () => {
    asked = []
    serve()
    const scan = connect()
    const signal = AbortSignal.abort(new Error('left the page'))
    await expect(scan.names.resolve(ALICE, { signal })).rejects.toThrow(/^left the page$/)
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
    await scan.close()
    await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({
      code: 'CLOSED',
      definite: true,
    })
  })

  it('fails as a mismatch if the party is not the expected one', async () => {
    asked = []
    serve()
    await using scan = connect()
    const expectedParty = `mallory::1220${'b'.repeat(64)}`
    expect(await scan.names.lookup(ALICE, { expectParty: expectedParty })).toMatchObject({
      kind: 'failed',
      error: { code: 'NAME_MISMATCH', details: { entry: { party: PARTY } } },
      facts: { basis: 'proof' },
    })
    expect(await scan.names.isAvailable(ABSENT)).toBe(true)
  })

  it('is repeated while nodes lag, and then fails as lagging', async () => {
    asked = []
    const lagging: Behaviour = (request) =>
      request.uri.includes('min_offset')
        ? [503, error('NO_CERTIFICATE'), { ...JSON_TYPE, 'retry-after': '1' }]
        : honest(request)
    serve(lagging, lagging, lagging, lagging)
    await using scan = connect()
    await expect(scan.names.resolve(ALICE, { minOffset: HEAD + 1 })).rejects.toMatchObject({
      code: 'CONSENSUS_LAGGING',
      retryable: true,
      details: { outcome: { reason: 'floor', wantedOffset: HEAD + 1 } },
    })
    const first = asked.filter(({ headers }) => headers['host'] === new URL(urlOf('sv-1')).host)
    expect(first.length).toBeGreaterThanOrEqual(3)
  })

  it('comes with a receipt that proves it', async () => {
    asked = []
    serve()
    await using scan = connect()
    for (const name of [ALICE, ABSENT]) {
      const [outcome] = await Promise.all([scan.names.lookup(name), scan.names.resolve(BOB)])
      if (!('receipt' in outcome)) throw new Error(outcome.kind)
      const stored: unknown = JSON.parse(JSON.stringify(outcome.receipt))
      const proven = await verifyReceipt(stored, { genesis, name })
      expect(proven).toMatchObject({
        offset: HEAD,
        signers: NAMES,
        recordTime: formatInstant(RECORD_TIME),
        genesisHash,
        entry: name === ABSENT ? null : { name, party: PARTY, contractId: expect.any(String) },
      })
    }
  })
})

describe('a name whose owner has changed since it was last accepted', () => {
  const OTHER = `mallory::1220${'b'.repeat(64)}`
  const changed = {
    name: ALICE,
    previousParty: OTHER,
    previousSeenAt: expect.stringMatching(/^20\d\d-.*\.\d{6}Z$/),
    party: PARTY,
    seenAt: formatInstant(RECORD_TIME),
  }
  const known = async (options: Partial<ScanOptions> = {}) => {
    asked = []
    serve()
    const scan = connect(options)
    await scan.names.acceptChange('Alice', OTHER)
    return scan
  }

  it('is never returned by resolve alone', async () => {
    await using scan = await known()
    for (const acceptChange of [undefined, () => false, async () => false])
      await expect(
        scan.names.resolve(ALICE, acceptChange === undefined ? {} : { acceptChange }),
      ).rejects.toMatchObject({
        code: 'NAME_CHANGED',
        definite: true,
        retryable: false,
        details: changed,
        message: expect.stringContaining(OTHER),
      })
  })

  it('is returned after the change is accepted, and from then on', async () => {
    const timeoutMs = 7_777
    const passing = new AbortController()
    const delay: Clock['delay'] = (ms, signal) => {
      if (ms !== timeoutMs) return systemClock.delay(ms, signal)
      return new Promise((resolve, reject) => {
        passing.signal.addEventListener('abort', () => resolve())
        signal?.addEventListener('abort', () => reject(signal.reason))
      })
    }
    await using scan = await known({ clock: { ...freshClock, delay } })
    const asked: unknown[] = []
    const acceptChange = async (change: NameChange) => {
      asked.push(change)
      passing.abort() // The user takes longer than the deadline of the lookup.
      await systemClock.delay(0)
      return true
    }
    expect(await scan.names.resolve(ALICE, { acceptChange, timeoutMs })).toBe(PARTY)
    expect(asked).toEqual([changed])
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
  })

  it('is marked in every result', async () => {
    await using scan = await known()
    expect(await scan.names.lookup(ALICE)).toMatchObject({
      kind: 'changed',
      previous: changed,
    })
    expect(await scan.names.resolveMany([BOB, ALICE])).toMatchObject([
      { kind: 'proven' },
      { kind: 'changed', previous: changed },
    ])
    expect(await scan.names.reverse(PARTY)).toMatchObject({ name: ALICE, changed })
    expect(await scan.names.reverseMany([PARTY])).toMatchObject([{ previous: changed }])
    for (const list of [scan.names.search('al'), scan.names.namesOf(PARTY)]) {
      const found: Listed<FoundEntry>[] = []
      for await (const entry of list) found.push(entry)
      expect(found.find(({ name }) => name === ALICE)).toMatchObject({ party: PARTY, changed })
    }
    expect(await scan.names.isAvailable(ALICE)).toBe(false)
  })
})

it('an owner that is no party hides no other name of a list, and has no party', async () => {
  const ALBA = 'alba.unverified.ns'
  const other = `other::1220${'c'.repeat(64)}`
  const odd = createSignedState(testNetwork, {
    offset: HEAD,
    recordTime: RECORD_TIME,
    entries: [simEntry(ALBA, { user: 'alba', expiresAt: FAR_MICROS }), user(ALICE)],
  })
  asked = []
  const proving: Behaviour = (request) =>
    request.uri.startsWith('/v0/certificate')
      ? [200, `{"certificate":${odd.certificate()}}`, JSON_TYPE]
      : [200, odd.document(queryOf(request)), { 'content-type': CERTIFIED_MEDIA_TYPE }]
  serve(...NAMES.map(() => proving))
  await using scan = connect()
  await scan.names.acceptChange(ALICE, other)
  const refused = { code: 'INVALID_RESPONSE', message: expect.stringContaining(ALBA) }
  const [first, second] = await scan.names.resolveMany([ALBA, ALICE])
  expect(first).toMatchObject({ kind: 'failed', error: refused, facts: { offset: HEAD } })
  expect(second).toMatchObject({ kind: 'changed', previous: { previousParty: other } })
  expect(await scan.names.lookup(ALBA)).toMatchObject({ kind: 'failed', error: refused })
  await expect(scan.names.resolve(ALBA)).rejects.toMatchObject(refused)
  const listed: Listed<FoundEntry>[] = []
  for await (const entry of scan.names.search('al')) listed.push(entry)
  expect(listed).toMatchObject([
    { name: ALBA, party: null, changed: null },
    { name: ALICE, party: PARTY, changed: { previousParty: other } },
  ])
})

describe('a text that cannot be a name', () => {
  const reads: Record<string, (names: Names, name: string) => Promise<unknown>> = {
    resolve: (names, name) => names.resolve(name),
    lookup: (names, name) => names.lookup(name),
    isAvailable: (names, name) => names.isAvailable(name),
    acceptChange: (names, name) => names.acceptChange(name, PARTY),
    search: (names, name) => names.search(name).next(),
  }

  it.each(Object.entries(reads))('%s refuses it, and sends no request', async (_, read) => {
    asked = []
    serve()
    await using scan = connect()
    await expect(read(scan.names, '\u0430lice')).rejects.toMatchObject({
      code: 'INVALID_NAME',
      message: expect.stringContaining('(U+0430, Cyrillic) only looks like "a"'),
    })
    expect(asked).toEqual([])
  })

  it('is reported among many others, in order', async () => {
    asked = []
    serve()
    await using scan = connect()
    expect(await scan.names.resolveMany([ABSENT, 'not a name', ' Alice'])).toMatchObject([
      { kind: 'proven', value: null },
      { kind: 'failed', error: { code: 'INVALID_NAME' }, facts: null },
      { kind: 'proven', value: { name: ALICE } },
    ])
  })

  it('a name as people type it is found', async () => {
    asked = []
    serve()
    await using scan = connect()
    for (const typed of ['alice', ' ALICE ', 'Alice.Unverified.ns'])
      expect(await scan.names.resolve(typed), typed).toBe(PARTY)
  })
})

describe('more lookups than the nodes take from one address', () => {
  const names = Array.from({ length: 300 }, (_, index) => (index === 299 ? ALICE : `n-${index}`))
  /** Refuses the batch with alice this number of times. */
  const limited = (refusalCount: number, retryAfter = '1') => {
    let count = 0
    const refusing: Behaviour = (request) =>
      (request.uri + request.body).includes(ALICE) && count++ < refusalCount
        ? [429, error('RATE_LIMITED'), { ...JSON_TYPE, 'retry-after': retryAfter }]
        : honest(request)
    return refusing
  }

  it('are waited for', async () => {
    asked = []
    serve(...NAMES.map(() => limited(1)))
    await using scan = connect()
    const found = (await scan.names.resolveMany(names)).map(partyOf)
    expect(found).toHaveLength(300)
    expect(found.filter((party) => party !== null)).toEqual([PARTY])
  })

  it('are refused as rate limited if the deadline leaves no time to wait', async () => {
    asked = []
    serve(...NAMES.map(() => limited(Number.POSITIVE_INFINITY, '60')))
    await using scan = connect({ timeoutMs: 50_000 })
    const outcomes = await scan.names.resolveMany(names)
    expect(outcomes[0]).toMatchObject({ kind: 'proven', value: null })
    expect(outcomes[299]).toMatchObject({ kind: 'failed', error: { code: 'RATE_LIMITED' } })
    await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      definite: true,
      retryable: true,
      retryAfterMs: expect.any(Number),
      message: expect.stringContaining('refuse more lookups'),
    })
  })
})

describe.each(Object.entries(FAILURES))('a node that %s', (_, failure) => {
  it('costs only the time to ask another one', async () => {
    asked = []
    serve(failure, failure)
    await using scan = connect({ seeds: NAMES.map(urlOf) })
    expect(await scan.names.lookup(ALICE, { receipt: false })).toMatchObject({
      kind: 'proven',
      agreed: NAMES,
      value: { party: PARTY },
    })
  })

  it('never counts as an absence', async () => {
    asked = []
    serve(failure, failure, failure, failure)
    await using scan = connect({ seeds: NAMES.map(urlOf), ...untilTold(1000) })
    await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({
      code: expect.stringMatching(
        /^(NOT_ENOUGH_NODES|NETWORK_ERROR|CONSENSUS_LAGGING|RATE_LIMITED)$/,
      ),
      definite: true,
      retryable: true,
    })
  })
})

describe('a genesis pinned by its hash', () => {
  const wrong = { nonce: 'cd'.repeat(32) }
  const genesisText = () => canonicalJson(genesis)

  it('is fetched from any seed that has it', async () => {
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
      retryable: false,
      message: expect.stringMatching(
        /sv-1.* serves the genesis document [0-9a-f]{64}, not the pinned one/,
      ),
    })
    nock(urlOf('sv-1')).get('/v0/genesis').reply(200, genesisText())
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
  })

  const genesisOf = (name: string) => nock(urlOf(name)).get('/v0/genesis')
  const refused = (name: string) => genesisOf(name).replyWithError('connect ECONNREFUSED')
  it.each<[string, () => void, object]>([
    [
      'no seed can be reached',
      () => [refused('sv-1'), refused('sv-2')],
      { code: 'NETWORK_ERROR', retryable: true, message: expect.stringContaining('ECONNREFUSED') },
    ],
    [
      'what stands before the nodes has none',
      () => [genesisOf('sv-1').reply(502), genesisOf('sv-2').reply(429)],
      { code: 'NETWORK_ERROR', retryable: true, message: expect.stringContaining('answers 502') },
    ],
    [
      'one is not a scan node, and the other may recover',
      () => [genesisOf('sv-1').reply(404), refused('sv-2')],
      { code: 'NETWORK_ERROR', retryable: true },
    ],
    [
      'none is a scan node',
      () => [
        genesisOf('sv-1').reply(404, 'Not Found'),
        genesisOf('sv-2').reply(200, '<h1>Hi</h1>'),
      ],
      {
        code: 'INVALID_RESPONSE',
        retryable: false,
        status: 404,
        message: expect.stringMatching(/sv-1.* is not a scan node: .* status 404\./),
      },
    ],
    [
      'one serves another document, and the other is away',
      () => [refused('sv-1'), genesisOf('sv-2').reply(200, { ...genesis, ...wrong })],
      { code: 'WRONG_GENESIS', retryable: false },
    ],
  ])('is distinguished if %s', async (_, answer, error) => {
    asked = []
    answer()
    await using scan = connect({ seeds: ['sv-1', 'sv-2'].map(urlOf), genesis: genesisHash })
    await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({ definite: true, ...error })
  })

  it('is fetched once: the stored document suffices if the seed is down', async () => {
    asked = []
    serve()
    nock(urlOf('sv-1')).get('/v0/genesis').reply(200, genesisText())
    const store = createMemoryStore()
    await using first = connect({ genesis: genesisHash, store })
    expect(await first.names.resolve(ALICE)).toBe(PARTY)
    const key = `quorumscan:${genesisHash.slice(0, 16)}:addresses`
    await until('addresses in the store', async () => (await store.get(key)) ?? undefined)
    nock('https://dead.test').persist().get(/.*/).replyWithError('connect ECONNREFUSED')
    await using second = connect({ seeds: ['https://dead.test'], genesis: genesisHash, store })
    expect(await second.names.resolve(ALICE)).toBe(PARTY)
  })

  it('is not replaced by another stored document', async () => {
    asked = []
    serve()
    nock(urlOf('sv-1')).get('/v0/genesis').reply(200, genesisText())
    const store = createMemoryStore()
    const key = `quorumscan:${genesisHash.slice(0, 16)}:genesis`
    await store.set(key, JSON.stringify({ ...genesis, nodes: [] }))
    await using scan = connect({ genesis: genesisHash, store })
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
    expect(JSON.parse((await store.get(key)) ?? '')).toEqual(genesis)
  })
})

it('with a pinned document and no reachable node the error is retryable', async () => {
  for (const name of NAMES) nock(urlOf(name)).persist().get(/.*/).replyWithError('ECONNREFUSED')
  await using scan = connect({ seeds: NAMES.map(urlOf), ...untilTold(400) })
  await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({
    code: 'NETWORK_ERROR',
    retryable: true,
  })
})

it('no client resolves an entry that has expired by the clock of the caller', async () => {
  asked = []
  serve()
  await using scan = connect()
  const entry = { name: ENDED, party: PARTY }
  const expired = { code: 'NAME_EXPIRED', definite: true, retryable: true, details: { entry } }
  await expect(scan.names.resolve(ENDED)).rejects.toMatchObject(expired)
  const failed = { kind: 'failed', error: expired }
  expect(await scan.names.lookup(ENDED)).toMatchObject(failed)
  expect(await scan.names.lookup(ENDED, { expectParty: 'bob' })).toMatchObject(failed)
  expect(await scan.names.resolveMany([ENDED, ALICE])).toMatchObject([failed, { kind: 'proven' }])
})

it('reads include what was written by the client, its validator, or clients of its store', async () => {
  asked = []
  const lagging: Behaviour = (request) =>
    request.uri.includes(`min_offset=${HEAD + 1}`)
      ? [503, error('NO_CERTIFICATE'), { ...JSON_TYPE, 'retry-after': '1' }]
      : honest(request)
  serve(lagging, lagging, lagging, lagging)
  const behind = { code: 'CONSENSUS_LAGGING', details: { outcome: { wantedOffset: HEAD + 1 } } }
  const store = createMemoryStore()
  const writtenOffset = async () => HEAD + 1
  const bounds = untilTold(1000)
  await using writer = connect({ store, ...bounds })
  await using reader = connect({ store, ...bounds })
  await using follower = connect({ validator: { writtenOffset }, ...bounds })
  expect(await reader.names.resolve(ABSENT)).toBeNull()
  await writer.readFrom(HEAD + 1)
  await Promise.all(
    [writer, reader, follower].map((scan) =>
      expect(scan.names.resolve(ABSENT)).rejects.toMatchObject(behind),
    ),
  )
  await expect(writer.readFrom(-1)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await using other = connect()
  await other.readFrom(HEAD)
  expect(await other.names.resolve(ABSENT)).toBeNull()
})

it.each([
  ['is dead', () => Promise.reject(new Error('refused'))],
  ['hangs', () => new Promise<never>(() => {})],
])('a validator that %s stops no read, and is waited for once', async (_, writtenOffset) => {
  asked = []
  serve()
  let waitCount = 0
  const delay: Clock['delay'] = async (ms, signal) => {
    if (ms !== WRITER_MS) return systemClock.delay(ms, signal)
    await systemClock.delay(50, signal)
    waitCount++
  }
  await using scan = connect({ validator: { writtenOffset }, clock: { ...freshClock, delay } })
  expect(await scan.names.resolve(ABSENT)).toBeNull()
  expect(await scan.names.resolve(ABSENT)).toBeNull()
  expect(waitCount).toBeLessThanOrEqual(1)
})

describe('a store', () => {
  const broken: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('locked')
      },
    ],
    ['fails', () => Promise.reject(new Error('locked'))],
    ['hangs', () => new Promise<never>(() => {})],
    ['holds what is no JSON', () => 'x'],
    ['holds what is no floor', () => '"x"'],
  ]
  const waiting = () => {
    let waitCount = 0
    const delay: Clock['delay'] = async (ms, signal) => {
      if (ms !== STORE_MS && ms !== OPTIONAL_STORE_MS) return systemClock.delay(ms, signal)
      await systemClock.delay(50, signal)
      waitCount++
    }
    return { clock: { ...freshClock, delay }, waitCount: () => waitCount }
  }

  it.each(broken)(
    'that %s fails the first lookup and each other one, and is in the status',
    async (_, get) => {
      asked = []
      serve()
      const { clock } = waiting()
      const store = { get, set: get } as unknown as Store
      await using scan = connect({ clock, store })
      const unavailable = { code: 'STORE_UNAVAILABLE', definite: true, retryable: true }
      for (const name of [ALICE, ABSENT, ALICE])
        await expect(scan.names.resolve(name)).rejects.toMatchObject(unavailable)
      await expect(scan.names.lookup(ALICE)).rejects.toMatchObject(unavailable)
      expect(scan.status()).toMatchObject({ store: { failure: unavailable } })
    },
  )

  it.each(broken)(
    'that %s fails no lookup if the client is told, and delays one by a second',
    async (title, get) => {
      asked = []
      serve()
      const { clock, waitCount } = waiting()
      const store = { get, set: get } as unknown as Store
      const failures: string[] = []
      const onStoreFailure = ({ code }: { readonly code: string }) => failures.push(code)
      await using scan = connect({ clock, store, onStoreFailure })
      for (const name of [ALICE, BOB, ALICE]) expect(await scan.names.resolve(name)).toBe(PARTY)
      expect(await scan.names.resolve(ABSENT)).toBeNull()
      // The hook gets each failure that a test of the wait may repeat.
      expect(waitCount() > 0).toBe(title === 'hangs')
      expect(failures).toContain('STORE_UNAVAILABLE')
      expect(scan.status()).toMatchObject({ store: { failure: { code: 'STORE_UNAVAILABLE' } } })
    },
  )

  it('that cannot be written fails the lookup of a name that it should remember', async () => {
    asked = []
    serve()
    const full: Store = { get: () => null, set: () => Promise.reject(new Error('full')) }
    await using scan = connect({ store: full })
    for (let count = 0; count < 2; count++)
      await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(await scan.names.resolve(ABSENT)).toBeNull()
  })

  it('that works has no failure', async () => {
    asked = []
    serve()
    await using scan = connect({ store: createMemoryStore() })
    expect(await scan.names.resolve(ALICE)).toBe(PARTY)
    expect(scan.status()).toMatchObject({ store: { failure: null } })
  })
})

it.each([
  ['ignored', {}, null],
  ['asked where that is allowed', { allowPrivateAddresses: true }, 'http://192.168.0.1'],
])('a private address in the record of a node is %s', async (_, options, url) => {
  asked = []
  const known = scans
  scans = scansOf(['http://192.168.0.1'])
  serve()
  scans = known
  await using scan = connect({ seeds: [urlOf('sv-2')], ...options })
  expect(await scan.names.resolve(ALICE)).toBe(PARTY)
  const sv1 = () => scan.status()?.nodes.find(({ name }) => name === 'sv-1')?.url ?? null
  await until('addresses', async () =>
    scan.status()?.nodes.some(({ name }) => name === 'sv-4') ? true : undefined,
  )
  expect(sv1()).toBe(url)
})

it.each([
  ['no seeds', { seeds: [] }],
  ['a seed that is no URL', { seeds: ['sv-1'] }],
  ['a text for seeds', { seeds: 'https://sv-1.test' as unknown as string[] }],
  ['a seed with an invalid host', { seeds: ['https://[sv-1]'] }],
  ['a seed with credentials', { seeds: ['https://me:secret@sv-1.test'] }],
  ['a seed with a query', { seeds: ['https://sv-1.test/?a'] }],
  ['an invalid hash', { genesis: 'abc' }],
])('%s is refused at once', (_, options) => {
  expect(() => connect(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
})

it('invalid options are refused by the call', async () => {
  const refused = { code: 'INVALID_ARGUMENT', definite: true, retryable: false }
  asked = []
  serve()
  await using scan = connect()
  const validator = createValidator({ url: 'https://validator.test', genesis })
  for (const { names } of [scan, validator]) {
    await expect(names.resolve(ALICE, { timeoutMs: Number.NaN })).rejects.toMatchObject(refused)
    await expect(names.resolve(ALICE, { minOffset: -1 })).rejects.toMatchObject(refused)
    await expect(names.resolve(ALICE, { maxAgeMs: Number.NaN })).rejects.toMatchObject(refused)
    await expect(names.resolveMany('abc' as unknown as string[])).rejects.toMatchObject(refused)
    await expect(names.resolve(ALICE, { threshold: 5 })).rejects.toMatchObject({
      code: 'INVALID_QUORUM',
      definite: true,
    })
  }
})

it('a text that cannot be a party is refused, and only it among several', async () => {
  asked = []
  serve()
  await using scan = connect()
  const error = expect.objectContaining({ code: 'INVALID_PARTY', definite: true })
  await expect(scan.names.reverse('alice')).rejects.toEqual(error)
  await expect(scan.names.namesOf('alice').next()).rejects.toEqual(error)
  expect(await scan.names.reverseMany(['alice', PARTY])).toEqual([
    { kind: 'failed', error, facts: null },
    expect.objectContaining({ kind: 'proven' }),
  ])
})

it('a party is trimmed, also among several', async () => {
  asked = []
  serve()
  await using scan = connect()
  const typed = ` ${PARTY}\n`
  expect(await scan.names.reverse(typed)).toMatchObject({ name: ALICE, party: PARTY })
  expect(await scan.names.namesOf(typed).next()).toMatchObject({ value: { party: PARTY } })
  expect(await scan.names.reverseMany([typed, PARTY])).toMatchObject([
    { kind: 'proven', value: { party: PARTY } },
    { kind: 'proven', value: { party: PARTY } },
  ])
})

it('the first lookup refuses an invalid genesis document before it sends a request', async () => {
  asked = []
  serve()
  await using scan = connect({ genesis: { ...genesis, nodes: [] } })
  await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('nodes'),
  })
  expect(asked).toEqual([])
})
