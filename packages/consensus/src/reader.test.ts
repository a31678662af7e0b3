import { createSimWorld, type SimHandler, simCrypto, simEntry } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import type { Outcome, ReadOptions } from './outcome.ts'
import { createReader } from './reader.ts'
import type { ReaderOptions } from './reader-options.ts'

const START = 1_700_000_000_000_000
const HOUR_MICROS = 3_600_000_000

/** Honest nodes at offset 3, with alice and bob registered; the newest record time is 1 s old. */
function createWorld(options: { nodeCount?: number; reader?: Partial<ReaderOptions> } = {}) {
  const world = createSimWorld({
    nodeCount: options.nodeCount ?? 4,
    startMicros: START,
    genesisMicros: START - 9_000_000,
  })
  const { clock, genesis, genesisHash, ledger, network, urls } = world
  const expiresAt = START + HOUR_MICROS
  const names = [[], ['alice.unverified.ns'], ['bob.unverified.ns']]
  for (const [index, put] of names.entries())
    ledger.append({
      recordTime: START - 3_000_000 + index * 1_000_000,
      put: put.map((name) => simEntry(name, { expiresAt })),
    })
  for (const node of world.nodes) node.head = ledger.head()
  const reader = createReader({
    genesis,
    genesisHash,
    seeds: urls.slice(0, 2),
    transport: network,
    clock,
    crypto: simCrypto,
    allowPrivateAddresses: true,
    ...options.reader,
  })
  const serve = (index: number, handler: SimHandler | null) =>
    network.serve(urls[index] as string, handler)
  const lookup = async (name: string, readOptions?: ReadOptions): Promise<Outcome> => {
    const [outcome] = await clock.run(reader.lookup([{ name }], readOptions))
    return outcome as Outcome
  }
  return { ...world, reader, serve, lookup }
}

describe('a lookup', () => {
  it('is verified at one offset, with who agreed', async () => {
    const { lookup, ledger } = createWorld()
    const outcome = await lookup('alice.unverified.ns')
    expect(outcome).toMatchObject({
      kind: 'verified',
      threshold: 2,
      nodeCount: 4,
      dissented: [],
      ...ledger.pointAt(3),
    })
    const answer = 'answer' in outcome ? new TextDecoder().decode(outcome.answer) : ''
    expect(JSON.parse(answer)).toMatchObject({ entry: { name: 'alice.unverified.ns' } })
  })

  it('of an unknown name is verified too', async () => {
    const { lookup } = createWorld()
    expect(await lookup('nobody.unverified.ns')).toMatchObject({ kind: 'verified-absent' })
  })

  it.each([
    ['dead', null],
    ['hung', async () => null],
  ])('goes on at once with n − t nodes %s', async (_, handler) => {
    const { lookup, serve, clock } = createWorld()
    await lookup('alice.unverified.ns')
    serve(2, handler)
    serve(3, handler)
    const before = clock.monotonicMs()
    expect(await lookup('alice.unverified.ns')).toMatchObject({ kind: 'verified' })
    expect(clock.monotonicMs() - before).toBeLessThan(10)
  })

  it('says how many nodes are left, when they are too few', async () => {
    const { lookup, serve, clock } = createWorld()
    await lookup('alice.unverified.ns')
    for (const index of [1, 2, 3]) serve(index, null)
    expect(await lookup('alice.unverified.ns')).toMatchObject({
      kind: 'insufficient',
      reachable: 1,
      needed: 2,
    })
    const before = clock.monotonicMs()
    expect(await lookup('alice.unverified.ns')).toMatchObject({ kind: 'insufficient' })
    expect(clock.monotonicMs() - before).toBeLessThan(10)
  })
})
