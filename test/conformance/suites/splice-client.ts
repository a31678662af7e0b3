/**
 * The published upstream clients `@canton-network/core-splice-client` with our scan node and our validator: answers
 * have the shapes that the clients expect (D-2, D-3, D-5).
 */
import { createRequire } from 'node:module'
import type { FixturesOf } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import { ALICE, it } from '../network.ts'

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

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

type Given = Pick<FixturesOf<typeof it>, 'alice' | 'cluster'>

/** Clients of alice. */
function clientsOf({ alice, cluster: { urls } }: Given) {
  const connect = <Client>(Upstream: UpstreamClass<Client>, url: string): Client =>
    new Upstream(new URL(url), quiet, { getAccessToken: async () => alice.token })
  return {
    ScanClient: connect(ScanClient, `${urls.nodes['sv-1']}/api/scan`),
    ScanProxyClient: connect(ScanProxyClient, `${urls.validator}/api/validator`),
    validator: connect(ValidatorInternalClient, `${urls.validator}/api/validator`),
  }
}

export function describeSpliceClient(): void {
  describe.each([
    ['ScanClient', '/v0'],
    ['ScanProxyClient', '/v0/scan-proxy'],
  ] as const)('%s', (name, prefix) => {
    it('finds names by name, party and prefix', async ({ alice, cluster }) => {
      const client = clientsOf({ alice, cluster })[name]
      const entry = expect.objectContaining({ user: alice.party, name: ALICE })
      const find = (path: string, params: object) => client.get(`${prefix}${path}`, params)
      expect(await find('/ans-entries/by-name/{name}', { path: { name: ALICE } })).toEqual({
        entry,
      })
      expect(await find('/ans-entries/by-party/{party}', { path: { party: alice.party } })).toEqual(
        { entry },
      )
      expect(
        await find('/ans-entries', { query: { name_prefix: 'ali', page_size: 20 } }),
      ).toMatchObject({ entries: [{ name: ALICE }] })
    })

    it('receives an error body for a missing entry', async ({ alice, cluster }) => {
      const client = clientsOf({ alice, cluster })[name]
      const lookup = client.get(`${prefix}/ans-entries/by-name/{name}`, {
        path: { name: 'missing.unverified.ns' },
      })
      await expect(lookup).rejects.toMatchObject({
        error: 'No ans entry found for name: missing.unverified.ns',
      })
    })

    it('reads the rules and the operator', async ({ alice, cluster }) => {
      const client = clientsOf({ alice, cluster })[name]
      expect(await client.post(`${prefix}/ans-rules`, {})).toMatchObject({
        ans_rules_update: { contract: { payload: expect.any(Object) } },
      })
      expect(await client.get(`${prefix}/dso-party-id`)).toMatchObject({
        dso_party_id: expect.stringMatching(/^DSO::1220/),
      })
    })

    it('reads the synchronizer, the rules and the rounds of coin', async ({ alice, cluster }) => {
      const client = clientsOf({ alice, cluster })[name]
      const response = await fetch(`${cluster.urls.nodes['sv-1']}/v0/genesis`)
      const genesis = (await response.json()) as { synchronizerId: string; devnet: boolean }
      expect(await client.getAmuletSynchronizerId()).toBe(genesis.synchronizerId)
      expect(await client.isDevNet()).toBe(genesis.devnet)
      const rounds = await client.getOpenMiningRounds()
      expect(rounds.map(({ payload }) => Number(payload.round.number))).toEqual([2, 1, 0])
      expect(await client.getActiveOpenMiningRound()).not.toBeNull()
    })
  })

  describe('ValidatorInternalClient', () => {
    it('requests a name, and lists the names of the user', async ({ alice, cluster }) => {
      const { validator } = clientsOf({ alice, cluster })
      const name = 'second.unverified.ns'
      expect(
        await validator.post('/v0/entry/create', { name, url: '', description: '' }),
      ).toMatchObject({ name, subscriptionRequestCid: expect.stringMatching(/^00/) })
      expect(await validator.get('/v0/entry/all')).toMatchObject({ entries: [{ name: ALICE }] })
    })

    it('reads the operator of the validator, and the balance', async ({ alice, cluster }) => {
      const { validator } = clientsOf({ alice, cluster })
      expect(await validator.get('/v0/validator-user')).toMatchObject({
        party_id: expect.stringContaining('::1220'),
      })
      expect(await validator.get('/v0/wallet/balance')).toMatchObject({
        effective_unlocked_qty: expect.stringMatching(/^\d+\.\d{10}$/),
      })
    })
  })
}
