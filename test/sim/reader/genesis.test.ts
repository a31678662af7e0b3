import { fetchGenesis } from '@quorumscan/reader'
import { type SimHandler, simCrypto } from '@quorumscan/testkit'
import { canonicalJson, hashGenesis, type Json } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { createWorld, hung } from './world.ts'

describe('a pinned genesis hash', () => {
  const seeds = ['http://127.0.0.1:901', 'http://127.0.0.1:902', 'http://127.0.0.1:903']
  const serving =
    (document: unknown, status = 200): SimHandler =>
    async () => ({
      status,
      headers: {},
      body: new TextEncoder().encode(
        typeof document === 'string' ? document : canonicalJson(document as Json),
      ),
    })
  const fetchFrom = async (handlers: readonly SimHandler[], pinned?: string) => {
    const world = createWorld()
    for (const [index, seed] of seeds.entries()) world.network.serve(seed, handlers[index] ?? null)
    const { genesis, genesisHash, network: transport } = world
    const signal = new AbortController().signal
    const fetched = fetchGenesis({
      genesisHash: pinned ?? genesisHash,
      seeds,
      transport,
      signal,
      crypto: simCrypto,
    })
    return { genesis, fetched: world.clock.run(fetched) }
  }

  it('accepts the document from any seed that serves it', async () => {
    const { genesis } = createWorld()
    const { fetched } = await fetchFrom([hung, serving(genesis)])
    expect(await fetched).toEqual(genesis)
  })

  it.each([
    ['of another network', (genesis: object) => ({ ...genesis, nonce: 'ee'.repeat(32) })],
    [
      'with a member twice',
      (genesis: object) => `${canonicalJson(genesis as Json).slice(0, -1)},"version":1}`,
    ],
    ['that is not JSON', () => '<html>'],
  ])('refuses a document %s', async (_title, forge) => {
    const { genesis } = createWorld()
    const { fetched } = await fetchFrom([serving(forge(genesis)), serving(genesis, 500)])
    await expect(fetched).rejects.toThrow('no seed serves the genesis with the pinned hash')
  })

  it('is the hash of the document that the seed serves', async () => {
    const world = createWorld()
    expect(await hashGenesis(world.genesis, simCrypto)).toBe(world.genesisHash)
  })
})
