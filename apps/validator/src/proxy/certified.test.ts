/** Certified reads through the proxy, answered from the validator's own replica. */
import { sha256 } from '@quorumscan/base'
import { createWebCrypto } from '@quorumscan/consensus'
import {
  askBatch,
  askName,
  CERTIFIED_MEDIA_TYPE,
  createCertifiedVerifier,
  type Question,
} from '@quorumscan/consensus/certified'
import { createLogger } from '@quorumscan/http'
import { createHttpClient, type HttpClient, until } from '@quorumscan/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningValidator, startValidator } from '../start.ts'
import { startNetwork, type TestNetwork } from '../testing/network.ts'

const LOOKUP = '/v0/scan-proxy/ans-entries/by-name'
const CERTIFIED = { 'x-quorum': 'certified' }
const logger = createLogger({ name: 'validator', level: 'silent' })

let network: TestNetwork
let validator: RunningValidator
let client: HttpClient

beforeAll(async () => {
  network = await startNetwork(4)
  const config = { ...network.config, nodes: network.peers }
  validator = await startValidator(config, { logger, clock: network.clock })
  client = createHttpClient(validator.url, null)
  await until('certificates of all nodes', async () =>
    (await client.get(`${LOOKUP}/dso.ns`, { accept: CERTIFIED_MEDIA_TYPE, 'x-quorum': 'all' }))
      .status === 200
      ? true
      : undefined,
  )
})
afterAll(async () => {
  await validator?.[Symbol.asyncDispose]()
  await network?.[Symbol.asyncDispose]()
})

test.each<[string, string, { readonly body?: object }]>([
  ['a name', `${LOOKUP}/dso.ns`, {}],
  ['no name', `${LOOKUP}/nobody.unverified.ns`, {}],
  ['a party', '/v0/scan-proxy/ans-entries/by-party/DSO', {}],
  ['names', '/v0/scan-proxy/ans-entries?page_size=3', {}],
  ['names of a party', '/v0/scan-proxy/ans-entries/by-party/DSO/all?page_size=3', {}],
  ['addresses', '/v0/scan-proxy/scans', {}],
  ['the operator', '/v0/scan-proxy/dso', {}],
  ['rules', '/v0/scan-proxy/ans-rules', { body: {} }],
  ['a batch', '/v0/scan-proxy/ans-entries/batch', { body: { lookups: [{ name: 'dso.ns' }] } }],
])('%s: the nodes vote for the same answer as they certify', async (_, path, { body }) => {
  const url = path.replace('DSO', encodeURIComponent(network.genesis.dso))
  const ask = (headers: Record<string, string>) =>
    client.send(body === undefined ? 'GET' : 'POST', url, body, headers)
  const [voted, certified] = [await ask({}), await ask(CERTIFIED)]
  expect(certified.status).toBe(voted.status)
  expect(withoutOffsets(certified.body)).toEqual(withoutOffsets(voted.body))
  expect(certified.headers.get('x-quorum-outcome')).toBe(voted.headers.get('x-quorum-outcome'))
})

test('the document proves the answer to who does not believe the validator', async () => {
  const { genesis, genesisHash } = network
  const crypto = createWebCrypto()
  const verifier = createCertifiedVerifier({ genesis, genesisHash, sha256, crypto })
  const accept = { accept: CERTIFIED_MEDIA_TYPE }
  const verify = async <Answer>(path: string, question: Question<Answer>, body?: object) => {
    const method = body === undefined ? 'GET' : 'POST'
    const reply = await client.send(method, path, body, { ...accept, 'x-quorum': 'strong' })
    expect([reply.status, reply.type]).toEqual([200, CERTIFIED_MEDIA_TYPE])
    return (await verifier.verify(reply.text, question, 'strong')).answer
  }
  expect((await verify(`${LOOKUP}/dso.ns`, askName('dso.ns')))?.user).toBe(genesis.dso)
  expect(await verify(`${LOOKUP}/nobody`, askName('nobody'))).toBeNull()
  const lookups = [{ name: 'sv-1.sv.ns' }, { party: genesis.dso }]
  const batch = askBatch(lookups, { genesis, genesisHash, sha256 })
  const entries = await verify('/v0/scan-proxy/ans-entries/batch', batch, { lookups })
  expect(entries.map((entry) => entry?.name)).toEqual(['sv-1.sv.ns', 'dso.ns'])
})

test('thresholds, floors and ages that cannot be met are refused', async () => {
  const ask = async (headers: Record<string, string>, path = `${LOOKUP}/dso.ns`) => {
    const { status, body } = await client.get(path, headers)
    return [status, body.code]
  }
  expect(await ask({ ...CERTIFIED, 'x-min-offset': '1000000' })).toEqual([503, 'NO_CERTIFICATE'])
  expect(await ask({ ...CERTIFIED, 'x-max-age-ms': '0' })).toEqual([503, 'CONSENSUS_LAGGING'])
  expect(await ask({ accept: CERTIFIED_MEDIA_TYPE, 'x-quorum': '5' })).toEqual([
    400,
    'INVALID_QUORUM',
  ])
  expect(await ask(CERTIFIED, '/v0/scan-proxy/dso-party-id')).toEqual([400, 'INVALID_QUORUM'])
})

test('nobody is asked for a certified answer', async () => {
  await Promise.all(network.scans.map(({ stop }) => stop()))
  expect((await client.get(`${LOOKUP}/dso.ns`)).status).not.toBe(200)
  expect((await client.get(`${LOOKUP}/dso.ns`, CERTIFIED)).status).toBe(200)
})

/** Two reads are at two offsets, which page tokens hold, and others were the first to agree. */
function withoutOffsets(body: Record<string, unknown>): unknown {
  const { request_id, next_page_token, sv_user, sv_party_id, ...rest } = body
  return { ...rest, hasMore: next_page_token !== null }
}
