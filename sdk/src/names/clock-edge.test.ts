/** Lookups on a device whose clock is wrong, and the state of its proven difference. */
import {
  createSignedState,
  createTestNetwork,
  scansBody,
  signAddress,
  simEntry,
} from '@quorumscan/testkit'
import {
  batchQuery,
  CERTIFIED_MEDIA_TYPE,
  entriesQuery,
  nameQuery,
  partyQuery,
  sha256,
} from '@quorumscan/verifier/certified'
import nock from 'nock'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { scanNames } from '../naming/party-resolver.ts'
import { createResolver } from '../naming/resolver.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { createScan } from '../scan.ts'

const ALICE = 'alice.unverified.ns'
const ENDED = 'ended.unverified.ns'
const PARTY = `alice::1220${'a'.repeat(64)}`
const ENDED_PARTY = `ended::1220${'a'.repeat(64)}`
const NAMES = ['sv-1', 'sv-2', 'sv-3', 'sv-4']
const FAR_MICROS = 4_000_000_000_000_000
const YEAR_MS = 365 * 24 * 3_600_000
const JSON_TYPE = { 'content-type': 'application/json' }
const urlOf = (name: string) => `https://${name}.clock.test`

const testNetwork = createTestNetwork()
const { genesis, genesisHash, scans: keys } = testNetwork
const network = { genesis, genesisHash, sha256 }
const NOW = systemClock.nowMicros()
const alice = simEntry(ALICE, { user: PARTY, expiresAt: FAR_MICROS })
// It lives at the record time of the newest state, and has ended by now.
const ended = simEntry(ENDED, { user: ENDED_PARTY, expiresAt: NOW + 1 })
const newest = createSignedState(testNetwork, {
  offset: 8,
  recordTime: NOW,
  entries: [alice, ended],
})
const old = createSignedState(testNetwork, { offset: 7, recordTime: NOW - 65_000_000, entries: [] })

/** Serves a state of the ledger at each node. */
function serve(states: readonly (typeof newest)[]): void {
  const records = keys.map((key, index) => {
    const name = NAMES[index] as string
    return signAddress(key, { genesisHash, name, url: urlOf(name), sequence: 1 })
  })
  for (const [index, name] of NAMES.entries()) {
    const state = states[index] ?? newest
    const reply = (uri: string, body: nock.Body): [number, string, Record<string, string>] => {
      if (uri.startsWith('/v0/certificate'))
        return [200, `{"certificate":${state.certificate()}}`, JSON_TYPE]
      const query = uri.includes('/batch')
        ? batchQuery(JSON.parse(String(body)).lookups, network)
        : uri.includes('name_prefix=')
          ? entriesQuery('', { pageSize: 100, pageToken: null }, network)
          : uri.includes('by-party')
            ? partyQuery(decodeURIComponent(/by-party\/([^?]*)/.exec(uri)?.[1] ?? ''), network)
            : nameQuery(decodeURIComponent(/by-name\/([^?]*)/.exec(uri)?.[1] ?? ''))
      return [200, state.document(query), { 'content-type': CERTIFIED_MEDIA_TYPE }]
    }
    nock(urlOf(name))
      .persist()
      .get('/v0/scans')
      .reply(200, scansBody(records), JSON_TYPE)
      .get(/.*/)
      .reply(reply)
      .post(/.*/)
      .reply(reply)
  }
}

/** A client whose clock is ahead. Its time stands still, so that a slow machine changes nothing. */
function connect(aheadMs: number) {
  const device = { aheadMs }
  const clock: Clock = {
    nowMicros: () => NOW + device.aheadMs * 1000,
    monotonicMs: () => 0,
    delay: systemClock.delay,
  }
  return { device, scan: createScan({ seeds: [urlOf('sv-1')], genesis, clock }), clock }
}

beforeAll(() => {
  nock.disableNetConnect()
})
afterEach(() => {
  nock.abortPendingRequests()
  nock.cleanAll()
})
afterAll(() => nock.enableNetConnect())

describe('a device whose clock is behind', () => {
  it.each([-11_000, -300_000, -10 * YEAR_MS])(
    'by %i ms believes no absence that one node replays',
    async (aheadMs) => {
      serve([old])
      const { scan, device } = connect(aheadMs)
      expect(scan.status()).toBeNull()
      const outcome = await scan.names.lookup(ALICE, { maxAgeMs: 3_600_000 })
      expect(outcome).toMatchObject({
        kind: 'proven',
        value: { party: PARTY },
        offset: 8,
        clockSkewMs: -aheadMs,
      })
      expect(scan.status()).toMatchObject({ clock: { skewMs: -aheadMs } })
      device.aheadMs = 0
      expect(scan.status()).toMatchObject({ clock: { skewMs: null } })
      await scan.close()
    },
  )

  it('notices entries that have ended', async () => {
    serve([])
    const { scan, clock } = connect(-300_000)
    await expect(scan.names.resolve(ENDED)).rejects.toMatchObject({ code: 'NAME_EXPIRED' })
    const clockSkewMs = 300_000
    const expired = { error: { code: 'NAME_EXPIRED' }, facts: { clockSkewMs } }
    expect(await scan.names.lookup(ENDED)).toMatchObject(expired)
    expect(await scan.names.reverse(ENDED_PARTY)).toBeNull()
    expect(await scan.names.reverse(PARTY)).toMatchObject({ name: ALICE, clockSkewMs })
    expect(await scan.names.resolveMany([ENDED, ALICE])).toMatchObject([
      expired,
      { kind: 'proven', clockSkewMs },
    ])
    const listed: string[] = []
    for await (const { name } of scan.names.search('')) listed.push(name)
    expect(listed).toEqual([ALICE])
    for await (const seen of scan.names.watch(ENDED)) {
      expect(seen).toMatchObject({ kind: 'failed', error: { code: 'NAME_EXPIRED' } })
      break
    }
    const resolvers = [scanNames(scan, { id: 'cns' })]
    const resolver = createResolver({ network: 'localnet', resolvers, clock })
    expect(await resolver.resolve(ENDED)).toMatchObject({ error: { code: 'NAME_EXPIRED' } })
    expect(await resolver.resolve(ALICE)).toMatchObject({ kind: 'proven', value: { clockSkewMs } })
    expect(await resolver.reverse(ENDED_PARTY)).toEqual([])
    await scan.close()
  })

  it('by 9 s is not proven to be wrong, and notices entries that have ended all the same', async () => {
    serve([])
    const { scan, clock } = connect(-9000)
    expect(await scan.names.lookup(ENDED)).toMatchObject({
      error: { code: 'NAME_EXPIRED' },
      facts: { clockSkewMs: null },
    })
    const resolvers = [scanNames(scan, { id: 'cns' })]
    const resolver = createResolver({ network: 'localnet', resolvers, clock })
    expect(await resolver.resolve(ENDED)).toMatchObject({ error: { code: 'NAME_EXPIRED' } })
    expect(scan.status()).toMatchObject({ clock: { skewMs: null } })
    await scan.close()
  })
})

it('on a device whose clock is ahead an answer is too old, and nothing is proven', async () => {
  serve([])
  const { scan, device } = connect(300_000)
  await expect(scan.names.resolve(ALICE)).rejects.toMatchObject({ code: 'CONSENSUS_LAGGING' })
  expect(scan.status()).toMatchObject({ clock: { skewMs: null } })
  device.aheadMs = 0
  expect(await scan.names.resolve(ALICE)).toBe(PARTY)
  await scan.close()
})

it('a clock that is set back while the client runs is noticed without another answer', async () => {
  serve([])
  const { scan, device } = connect(0)
  expect(await scan.names.lookup(ALICE)).toMatchObject({ kind: 'proven', clockSkewMs: null })
  device.aheadMs = -300_000
  expect(scan.status()).toMatchObject({ clock: { skewMs: 300_000 } })
  const outcome = await scan.names.lookup(ALICE)
  expect(outcome).toMatchObject({ kind: 'proven', clockSkewMs: 300_000 })
  await scan.close()
})
