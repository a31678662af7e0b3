import {
  canonicalJson,
  fetchGenesis,
  hashGenesis,
  type Json,
  reverseLookup,
} from '@quorumscan/consensus'
import { type SimHandler, simCrypto, simEntry } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { ALICE, createWorld, hung } from './world.ts'

/** The owner of every name of the world. */
const { user: OWNER } = simEntry(ALICE, { expiresAt: 1 })
const STRANGER = `stranger::1220${'99'.repeat(32)}`

describe('a reverse lookup', () => {
  it('gives a name that leads back to the party', async () => {
    const world = createWorld()
    const found = await world.clock.run(reverseLookup(world.reader, OWNER))
    expect(found.match).toBe(true)
    expect(found.outcome).toMatchObject({ kind: 'verified' })
    expect(found.forward).toMatchObject({ kind: 'verified' })
  })

  it('of a party without a name is an absence, not a match', async () => {
    const world = createWorld()
    const found = await world.clock.run(reverseLookup(world.reader, STRANGER))
    expect(found).toMatchObject({
      outcome: { kind: 'verified-absent' },
      forward: null,
      match: false,
    })
  })

  it('does not match when the name changes hands between the two reads', async () => {
    const world = createWorld()
    const reader: Parameters<typeof reverseLookup>[0] = {
      async lookup(lookups, options) {
        // The second read sees the newest head, where the name belongs to somebody else.
        if ('party' in (lookups[0] ?? {})) return world.reader.lookup(lookups, options)
        const expiresAt = world.clock.nowMicros() + 60_000_000
        const taken = { ...simEntry(ALICE, { expiresAt }), user: STRANGER }
        world.ledger.append({ recordTime: world.clock.nowMicros(), put: [taken] })
        for (const node of world.nodes) node.head = world.ledger.head()
        return world.reader.lookup(lookups, { ...options, minOffset: world.ledger.head() })
      },
    }
    const found = await world.clock.run(reverseLookup(reader, OWNER))
    expect(found.forward).toMatchObject({ kind: 'verified' })
    expect(found.match).toBe(false)
  })
})

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

  it('is enough: any seed that serves the document will do', async () => {
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
    ['that is none', () => '<html>'],
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
