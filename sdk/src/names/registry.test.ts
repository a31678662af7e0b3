/** Finds a token registry by the entry of its admin party (CIP-0056) while one scan lies about the URL. */
import {
  createSignedState,
  createTestNetwork,
  scansBody,
  signAddress,
  simEntry,
} from '@quorumscan/testkit'
import { canonicalJson, type Lookup, membersOf } from '@quorumscan/verifier'
import {
  batchQuery,
  CERTIFIED_MEDIA_TYPE,
  type HashedNetwork,
  nameQuery,
  partyQuery,
  sha256,
} from '@quorumscan/verifier/certified'
import nock from 'nock'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../platform/clock.ts'
import { createScan } from '../scan.ts'
import { createSpliceScan } from '../splice/index.ts'
import { createValidator } from '../validator.ts'

const KEY = 'splice.lfdecentralizedtrust.org/registry-urls'
const URL = 'https://registry.example'
const FALSE_URL = 'https://registry.evil'
const ADMIN = `admin::1220${'a'.repeat(64)}`
const OTHER = `other::1220${'b'.repeat(64)}`
const NAME = 'admin.unverified.ns'
const OTHER_NAME = 'other.unverified.ns'
const [LIAR, ...HONEST] = ['sv-1', 'sv-2', 'sv-3', 'sv-4'] as const
const urlOf = (name: string) => `https://${name}.scan.test`
const description = (url: string) => JSON.stringify({ meta: { [KEY]: url } })
/** Replaces the URL in an answer, also in JSON within JSON, as a lying scan would. */
const withLie = (text: string) => text.replaceAll(URL, FALSE_URL)

const testNetwork = createTestNetwork()
const { genesis, genesisHash, scans: keys } = testNetwork
const network: HashedNetwork = { genesis, genesisHash, sha256 }
/** The state stays fresh, however long these tests take. */
const DAY_MS = 86_400_000
const expiresAt = 4_000_000_000_000_000
const entries = [
  simEntry(NAME, { user: ADMIN, expiresAt, description: description(URL) }),
  simEntry(OTHER_NAME, { user: OTHER, expiresAt, description: 'words' }),
]
const state = createSignedState(testNetwork, {
  offset: 7,
  recordTime: systemClock.nowMicros(),
  entries,
})

/** Nodes with the certified documents of `state`. The URL in those of the liar is another one. */
function serveNodes(): string[] {
  const asked: string[] = []
  const addresses = keys.map((key, index) => {
    const name = `sv-${index + 1}`
    return signAddress(key, { genesisHash, name, url: urlOf(name), sequence: 1 })
  })
  for (const name of [LIAR, ...HONEST]) {
    const reply = (uri: string, body: nock.Body): nock.ReplyFnResult => {
      asked.push(name)
      const { lookups } = (
        body === '' ? {} : membersOf(typeof body === 'string' ? JSON.parse(body) : body)
      ) as {
        lookups?: Lookup[]
      }
      const subject = decodeURIComponent(uri.split('/').at(-1)?.split('?')[0] ?? '')
      const one = uri.includes('by-party') ? partyQuery(subject, network) : nameQuery(subject)
      const text = state.document(lookups ? batchQuery(lookups, network) : one)
      return [200, name === LIAR ? withLie(text) : text, { 'content-type': CERTIFIED_MEDIA_TYPE }]
    }
    nock(urlOf(name))
      .persist()
      .get('/v0/genesis')
      .reply(200, canonicalJson(genesis))
      .get('/v0/scans')
      .reply(200, scansBody(addresses), { 'content-type': 'application/json' })
      .get('/v0/certificate')
      .query(true)
      .reply(200, `{"certificate":${state.certificate()}}`, { 'content-type': 'application/json' })
      .get(/^\/v0\/ans-entries/)
      .reply(reply)
      .post('/v0/ans-entries/batch')
      .reply(reply)
  }
  return asked
}

beforeAll(() => nock.disableNetConnect())
afterEach(() => {
  nock.abortPendingRequests()
  nock.cleanAll()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})
afterAll(() => nock.enableNetConnect())

describe('over certified reads', () => {
  let asked: string[]
  beforeEach(() => {
    asked = serveNodes()
  })

  it('metadata is that of the entry of the party, although a lying node was asked', async () => {
    await using scan = createScan({ seeds: [urlOf(LIAR)], genesis, maxAgeMs: DAY_MS })
    expect(await scan.names.metadata(ADMIN)).toEqual({ [KEY]: URL })
    expect(await scan.names.registryUrls(ADMIN)).toEqual([URL])
    expect(asked).toContain(LIAR)
  })

  it('a party with a plain description, or without a name, has no metadata', async () => {
    await using scan = createScan({ seeds: [urlOf(LIAR)], genesis, maxAgeMs: DAY_MS })
    for (const party of [OTHER, `none::1220${'c'.repeat(64)}`]) {
      expect(await scan.names.metadata(party)).toBeNull()
      expect(await scan.names.registryUrls(party)).toEqual([])
    }
    await expect(scan.names.metadata('admin')).rejects.toMatchObject({ code: 'INVALID_PARTY' })
  })

  it('the example prints the URL that the party has published', async () => {
    vi.stubEnv('SEED', urlOf(LIAR))
    vi.stubEnv('GENESIS_HASH', genesisHash)
    vi.stubEnv('ADMIN', ADMIN)
    const print = vi.spyOn(console, 'log').mockImplementation(() => {})
    await import('../../examples/token-registry.ts')
    expect(print.mock.calls).toEqual([[`Registry: ${URL}`]])
    expect(asked).toContain(LIAR)
  })
})

describe.each([
  ['that is trusted', undefined],
  ['whose answers are verified here', genesis],
])('through a scan proxy %s', (_, pinned) => {
  const PROXY = 'https://validator.test'
  const PATH = '/v0/scan-proxy/ans-entries'
  const reply = (query: Parameters<typeof state.document>[0], change = (text: string) => text) =>
    [200, change(state.document(query)), { 'content-type': CERTIFIED_MEDIA_TYPE }] as const
  const names = () => {
    if (!pinned) nock(PROXY).get('/v0/scan-proxy/genesis').reply(200, genesis)
    return createValidator({ url: PROXY, maxAgeMs: DAY_MS, ...(pinned && { genesis: pinned }) })
      .names
  }
  const byParty = () => nock(PROXY).get(`${PATH}/by-party/${ADMIN}`)

  it('metadata is that of the entry of the party', async () => {
    byParty().reply(...reply(partyQuery(ADMIN, network)))
    nock(PROXY)
      .get(`${PATH}/by-name/${NAME}`)
      .query(true)
      .reply(...reply(nameQuery(NAME)))
    expect(await names().registryUrls(ADMIN)).toEqual([URL])
  })

  it('a proxy that lies cannot name another server', async () => {
    byParty().reply(...reply(partyQuery(ADMIN, network), withLie))
    const refused = { code: 'INVALID_RECEIPT', definite: true }
    await expect(names().registryUrls(ADMIN)).rejects.toMatchObject(refused)
  })
})

describe('over votes', () => {
  const scans = [LIAR, ...HONEST].map((name) => ({ svName: name, publicUrl: urlOf(name) }))
  const fetch: typeof globalThis.fetch = async (input) => {
    const url = String(input instanceof Request ? input.url : input)
    const subject = decodeURIComponent(url.split('/').at(-1) ?? '')
    const found = entries.find(({ name, user }) => subject === name || subject === user)
    if (!found) {
      const error = `No ans entry found for party: ${subject}`
      return new Response(JSON.stringify({ error }), { status: 404 })
    }
    const { contractId, expiresAt: _, ...entry } = found
    const contract_id = contractId.padEnd(66, '0')
    const body = JSON.stringify({ entry: { ...entry, contract_id, expires_at: null } })
    return new Response(url.startsWith(urlOf(LIAR)) ? withLie(body) : body)
  }

  it('the registry URL is the one that enough scans answer', async () => {
    await using scan = createSpliceScan({ scans, svCount: scans.length, fetch })
    expect(await scan.names.metadata(ADMIN)).toEqual({ [KEY]: URL })
    expect(await scan.names.registryUrls(ADMIN)).toEqual([URL])
    expect(await scan.names.metadata(OTHER)).toBeNull()
    expect(await scan.names.registryUrls(`none::1220${'c'.repeat(64)}`)).toEqual([])
  })
})
