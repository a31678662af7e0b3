/**
 * The published upstream clients `@canton-network/core-splice-client` with our scan node and our validator: answers
 * have the shapes that the clients expect (D-2, D-3, D-5).
 */
import { createRequire } from 'node:module'
import type { RunningCluster } from 'quorumscan/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUser, untilFound } from '../../e2e/client.ts'
import { startCluster } from '../../support/clusters.ts'

/** The methods that these tests use. The clients' own types are `unknown` under our module settings. */
type UpstreamClient = {
  get(path: string, params?: object): Promise<unknown>
  post(path: string, body: object, params?: object): Promise<unknown>
}
/** The clients of scan and proxy also read the synchronizer, the coin rules and the rounds. */
type UpstreamScan = UpstreamClient & {
  getAmuletSynchronizerId(): Promise<string>
  isDevNet(): Promise<boolean>
  getOpenMiningRounds(): Promise<{ payload: { round: { number: string } } }[]>
  getActiveOpenMiningRound(): Promise<object | null>
}
type UpstreamClass<Client = UpstreamClient> = new (
  url: URL,
  logger: object,
  tokens: object,
) => Client
const { ScanClient, ScanProxyClient, ValidatorInternalClient } = createRequire(import.meta.url)(
  '@canton-network/core-splice-client',
) as Record<'ScanClient' | 'ScanProxyClient', UpstreamClass<UpstreamScan>> &
  Record<'ValidatorInternalClient', UpstreamClass>

const ALICE = 'alice.unverified.ns'
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
let cluster: RunningCluster
let alice: Awaited<ReturnType<typeof createUser>>

const connect = <Client>(Upstream: UpstreamClass<Client>, url: string): Client =>
  new Upstream(new URL(url), quiet, { getAccessToken: async () => alice.token })

beforeAll(async () => {
  cluster = await startCluster({ nodes: 4 })
  alice = await createUser(cluster, 'alice')
  await alice.pay(ALICE)
  await untilFound(cluster, ALICE)
})
afterAll(() => cluster?.down())

const entry = () => expect.objectContaining({ user: alice.party, name: ALICE })

describe.each([
  ['ScanClient', () => connect(ScanClient, `${cluster.urls.nodes['sv-1']}/api/scan`), '/v0'],
  [
    'ScanProxyClient',
    () => connect(ScanProxyClient, `${cluster.urls.validator}/api/validator`),
    '/v0/scan-proxy',
  ],
] as const)('%s', (_, client, prefix) => {
  it('finds names by name, party and prefix', async () => {
    expect(
      await client().get(`${prefix}/ans-entries/by-name/{name}`, { path: { name: ALICE } }),
    ).toEqual({ entry: entry() })
    expect(
      await client().get(`${prefix}/ans-entries/by-party/{party}`, {
        path: { party: alice.party },
      }),
    ).toEqual({ entry: entry() })
    expect(
      await client().get(`${prefix}/ans-entries`, { query: { name_prefix: 'ali', page_size: 20 } }),
    ).toMatchObject({ entries: [{ name: ALICE }] })
  })

  it('receives an error body for a missing entry', async () => {
    const lookup = client().get(`${prefix}/ans-entries/by-name/{name}`, {
      path: { name: 'missing.unverified.ns' },
    })
    await expect(lookup).rejects.toMatchObject({
      error: 'No ans entry found for name: missing.unverified.ns',
    })
  })

  it('reads the rules and the operator', async () => {
    expect(await client().post(`${prefix}/ans-rules`, {})).toMatchObject({
      ans_rules_update: { contract: { payload: expect.any(Object) } },
    })
    expect(await client().get(`${prefix}/dso-party-id`)).toMatchObject({
      dso_party_id: expect.stringMatching(/^DSO::1220/),
    })
  })

  it('reads the synchronizer, the rules and the rounds of coin', async () => {
    const response = await fetch(`${cluster.urls.nodes['sv-1']}/v0/genesis`)
    const genesis = (await response.json()) as { synchronizerId: string; devnet: boolean }
    expect(await client().getAmuletSynchronizerId()).toBe(genesis.synchronizerId)
    expect(await client().isDevNet()).toBe(genesis.devnet)
    const rounds = await client().getOpenMiningRounds()
    expect(rounds.map(({ payload }) => Number(payload.round.number))).toEqual([2, 1, 0])
    expect(await client().getActiveOpenMiningRound()).not.toBeNull()
  })
})

describe('ValidatorInternalClient', () => {
  const client = () => connect(ValidatorInternalClient, `${cluster.urls.validator}/api/validator`)

  it('requests a name, and lists the names of the user', async () => {
    const name = 'second.unverified.ns'
    expect(
      await client().post('/v0/entry/create', { name, url: '', description: '' }),
    ).toMatchObject({ name, subscriptionRequestCid: expect.stringMatching(/^00/) })
    expect(await client().get('/v0/entry/all')).toMatchObject({ entries: [{ name: ALICE }] })
  })

  it('reads the operator of the validator, and the balance', async () => {
    expect(await client().get('/v0/validator-user')).toMatchObject({
      party_id: expect.stringContaining('::1220'),
    })
    expect(await client().get('/v0/wallet/balance')).toMatchObject({
      effective_unlocked_qty: expect.stringMatching(/^\d+\.\d{10}$/),
    })
  })
})
