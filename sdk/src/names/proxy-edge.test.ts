/** The HTTP edge of lookups through a scan proxy: requests, and which of its replies are believed. */

import { createSignedState, createTestNetwork, endingBefore, simEntry } from '@quorumscan/testkit'
import { canonicalJson, type Json, type Lookup } from '@quorumscan/verifier'
import {
  batchQuery,
  CERTIFIED_MEDIA_TYPE,
  entriesQuery,
  type HashedNetwork,
  nameQuery,
  type RangeQuery,
  sha256,
} from '@quorumscan/verifier/certified'
import nock from 'nock'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../platform/clock.ts'
import { verifyReceipt } from '../receipts.ts'
import { createValidator } from '../validator.ts'
import type { ValidatorOptions } from '../validator-options.ts'

const URL = 'http://validator.test/api/validator'
const ALICE = 'alice.unverified.ns'
const ABSENT = 'absent.unverified.ns'
const PARTY = `alice::1220${'a'.repeat(64)}`
const PATH = '/v0/scan-proxy/ans-entries'
const HEAD = 7
const testNetwork = createTestNetwork()
const { genesis, genesisHash } = testNetwork
const network: HashedNetwork = { genesis, genesisHash, sha256 }
const stateAt = (offset: number, ageMs = 0) =>
  createSignedState(testNetwork, {
    offset,
    recordTime: systemClock.nowMicros() - ageMs * 1000,
    entries: [simEntry(ALICE, { user: PARTY, expiresAt: 4_000_000_000_000_000 })],
  })
const state = stateAt(HEAD)
const DOCUMENT = { 'content-type': CERTIFIED_MEDIA_TYPE }

type Reply = [status: number, body: string, headers?: Record<string, string>]
const proven = (stateQuery: RangeQuery<unknown>, by = state, certificate?: string): Reply => [
  200,
  by.document(stateQuery, certificate),
  DOCUMENT,
]
const refusal = (status: number, code: string): Reply => [
  status,
  JSON.stringify({
    error: `no: ${code}`,
    code,
    definite: true,
    retryable: status >= 500,
    request_id: 'r-1',
    details: null,
  }),
]
const byName = (name = ALICE) => nock(URL).get(`${PATH}/by-name/${name}`)
const connect = (options: Partial<ValidatorOptions> = {}) =>
  createValidator({ url: URL, genesis, random: () => 0, ...options }).names

beforeAll(() => nock.disableNetConnect())
afterEach(() => {
  const pending = nock.pendingMocks()
  nock.cleanAll()
  expect(pending).toEqual([])
})
afterAll(() => nock.enableNetConnect())

describe.each([
  ['with a genesis document', { genesis }, 'proof'],
  // Fetched once, before the first lookup.
  ['that is trusted', { genesis: undefined as never, crypto: undefined as never }, 'proxy'],
] as const)('a proxy %s', (_, options, basis) => {
  const told = () => {
    if (basis === 'proxy') nock(URL).get('/v0/scan-proxy/genesis').reply(200, genesis)
  }

  it('is asked for proofs, without a preflight of browsers', async () => {
    told()
    const badheaders = ['authorization', 'x-quorum', 'x-min-offset', 'x-max-age-ms']
    nock(URL, { badheaders, reqheaders: { accept: CERTIFIED_MEDIA_TYPE } })
      .get(`${PATH}/by-name/${ABSENT}?quorum=3`)
      .reply(...proven(nameQuery(ABSENT)))
      .post(`${PATH}/batch`, { lookups: [{ name: ALICE }, { name: ABSENT }] })
      .matchHeader('content-type', /^text\/plain/)
      .reply((_uri, body) => {
        const { lookups } = JSON.parse(String(body)) as { lookups: Lookup[] }
        return proven(batchQuery(lookups, network))
      })
      .get(`${PATH}?name_prefix=al&page_size=5`)
      .reply(...proven(entriesQuery('al', { pageSize: 5, pageToken: null }, network)))
    const names = connect({ ...options, token: 't-1' })
    expect(await names.resolve(ABSENT, { threshold: 'strong' })).toBeNull()
    expect(await names.resolveMany([ALICE, ABSENT])).toMatchObject([
      { kind: 'proven', value: { party: PARTY } },
      { kind: 'proven', value: null },
    ])
    const found: string[] = []
    for await (const { name } of names.search('al', { pageSize: 5 })) found.push(name)
    expect(found).toEqual([ALICE])
  })

  it('returns the signers, and a receipt', async () => {
    told()
    byName().reply(...proven(nameQuery(ALICE), state, state.certificate(0, 2)))
    const outcome = await connect(options).lookup(ALICE)
    expect(outcome).toMatchObject({
      kind: 'proven',
      value: { party: PARTY },
      offset: HEAD,
      agreed: ['sv-1', 'sv-3'],
      nodeCount: 4,
      threshold: 2,
      basis,
    })
    const receipt = 'receipt' in outcome ? outcome.receipt : null
    expect(await verifyReceipt(receipt, { genesis, name: ALICE })).toMatchObject({
      entry: { party: PARTY },
    })
  })
})

describe('a proxy whose genesis is pinned by its hash', () => {
  const told = (document: object) =>
    nock(URL)
      .get('/v0/scan-proxy/genesis')
      .reply(200, canonicalJson(document as Json))

  it('serves the document, which is verified, and then proofs', async () => {
    told(genesis)
    byName().reply(...proven(nameQuery(ALICE)))
    expect(await connect({ genesis: genesisHash }).lookup(ALICE)).toMatchObject({
      kind: 'proven',
      basis: 'proof',
    })
  })

  it('is refused if it serves another document, or none', async () => {
    told({ ...genesis, nonce: 'cd'.repeat(32) })
    await expect(connect({ genesis: genesisHash }).resolve(ALICE)).rejects.toMatchObject({
      code: 'WRONG_GENESIS',
      retryable: false,
    })
    nock(URL).get('/v0/scan-proxy/genesis').reply(404, 'Not Found')
    await expect(connect({ genesis: genesisHash }).resolve(ALICE)).rejects.toMatchObject({
      code: 'INVALID_RESPONSE',
      status: 404,
    })
    for (const genesisPin of ['abc', 7 as never, null as never])
      expect(() => connect({ genesis: genesisPin })).toThrow(
        expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
      )
  })
})

it.each<[string, Reply, RegExp]>([
  ['proves another name', proven(nameQuery(ABSENT)), /shown|claimed|proof/],
  [
    'has too few signatures',
    proven(nameQuery(ALICE), state, state.certificate(1)),
    /too few signers/,
  ],
  [
    'is not signed',
    [200, state.document(nameQuery(ALICE)).replace(/[0-9a-f]{128}/, 'ab'.repeat(64)), DOCUMENT],
    /sign/,
  ],
])('an answer that %s is refused as such, at once', async (_, reply, reason) => {
  byName().reply(...reply)
  await expect(connect().resolve(ALICE)).rejects.toMatchObject({
    code: 'INVALID_RECEIPT',
    definite: true,
    retryable: false,
    message: expect.stringMatching(reason),
  })
})

it('names a server that is not a scan proxy, refuses, or does not answer', async () => {
  for (const [reply, error] of [
    [[200, '<h1>Welcome</h1>'], { code: 'INVALID_RESPONSE', retryable: false }],
    [[404, 'Not Found'], { code: 'INVALID_RESPONSE', status: 404 }],
    [refusal(403, 'PERMISSION_DENIED'), { code: 'PERMISSION_DENIED', status: 403 }],
  ] as const) {
    byName().reply(...(reply as Reply))
    await expect(connect().resolve(ALICE)).rejects.toMatchObject(error)
  }
  for (const code of ['NOT_READY', 'CONSENSUS_DISPUTED']) {
    byName()
      .times(3)
      .reply(...refusal(503, code))
    await expect(connect().resolve(ALICE)).rejects.toMatchObject({ code })
  }
  byName().times(3).replyWithError('reset')
  await expect(connect().resolve(ALICE)).rejects.toMatchObject({
    code: 'NETWORK_ERROR',
    retryable: true,
  })
  nock(URL).get('/v0/scan-proxy/genesis').reply(200, { version: 1 })
  await expect(connect({ genesis: undefined as never }).resolve(ALICE)).rejects.toMatchObject({
    code: 'INVALID_RESPONSE',
  })
})

describe('the bounds minOffset and maxAgeMs', () => {
  it('are enforced by the client, even if the proxy accepts more', async () => {
    byName()
      .twice()
      .reply(...proven(nameQuery(ALICE), stateAt(HEAD, 30_000)))
    const names = connect(endingBefore(100, systemClock.nowMicros()))
    // No other node can be asked for a newer answer.
    expect(await names.resolve(ALICE)).toBe(PARTY)
    expect(await names.lookup(ALICE, { maxAgeMs: 20_000 })).toMatchObject({
      kind: 'failed',
      error: { code: 'CONSENSUS_LAGGING', details: { outcome: { reason: 'stale' } } },
    })
  })

  it('are sent to the proxy: an offset that nodes have not reached is lagging', async () => {
    nock(URL, { reqheaders: { 'x-min-offset': String(HEAD + 1) } })
      .get(`${PATH}/by-name/${ALICE}`)
      .reply(...refusal(503, 'CONSENSUS_LAGGING'))
    nock(URL)
      .get(`${PATH}/by-name/${ALICE}?quorum=4`)
      .reply(...refusal(502, 'NOT_ENOUGH_NODES'))
    const names = connect(endingBefore(200, systemClock.nowMicros()))
    expect(await names.lookup(ALICE, { minOffset: HEAD + 1 })).toMatchObject({
      kind: 'failed',
      error: { details: { outcome: { reason: 'floor', wantedOffset: HEAD + 1 } } },
    })
    expect(await names.lookup(ALICE, { threshold: 'all' })).toMatchObject({
      kind: 'failed',
      error: { details: { outcome: { kind: 'insufficient', needed: 4 } } },
    })
  })

  it('are never below the read floor: an older answer is requested again', async () => {
    byName(ABSENT).reply(...proven(nameQuery(ABSENT), stateAt(HEAD + 1)))
    byName().reply(...proven(nameQuery(ALICE)))
    nock(URL, { reqheaders: { 'x-min-offset': String(HEAD + 1) } })
      .get(`${PATH}/by-name/${ALICE}`)
      .reply(...proven(nameQuery(ALICE), stateAt(HEAD + 2)))
    const names = connect()
    expect(await names.resolve(ABSENT)).toBeNull()
    expect(await names.lookup(ALICE)).toMatchObject({ kind: 'proven', offset: HEAD + 2 })
  })
})

it('a proxy that takes too long counts as a node without an answer', async () => {
  byName().delay(60_000).reply(200)
  nock(URL).get('/v0/scan-proxy/certificate').delay(60_000).optionally().reply(200)
  const outcome = await connect(endingBefore(50, systemClock.nowMicros())).lookup(ALICE, {
    receipt: false,
  })
  expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'NETWORK_ERROR' } })
  nock.abortPendingRequests()
  nock.cleanAll()
})
