/** The small part that pages read with: what it decides, and what it leaves to the whole reader. */
import { createLeanReader, type Fork, type ReaderOptions } from '@quorumscan/consensus'
import { createReaderOf } from '@quorumscan/consensus/reader'
import { describe, expect, it } from 'vitest'
import { ALICE, createWorld, rewriting } from './world.ts'

function createLeanWorld(options: Parameters<typeof createWorld>[0] = {}) {
  let loadCount = 0
  const world = createWorld({
    ...options,
    create: (readerOptions: ReaderOptions) =>
      createLeanReader(readerOptions, async () => {
        loadCount++
        return createReaderOf
      }),
  })
  return { ...world, loadCount: () => loadCount }
}

describe('the lean reader', () => {
  it('decides what nothing is in the way of, and loads nothing for it', async () => {
    const world = createLeanWorld()
    expect(await world.lookup(ALICE)).toMatchObject({ kind: 'verified', offset: 3 })
    expect(await world.lookup('nobody.unverified.ns')).toMatchObject({ kind: 'verified-absent' })
    expect(world.loadCount()).toBe(0)
  })

  it('counts who dissents, whether it voted before the decision or after', async () => {
    const lie = (body: string) => body.replaceAll('alice::', 'mallory::')
    for (const latencyMs of [1, 40]) {
      const world = createLeanWorld({ latencyMs: (url) => (url.endsWith('1') ? latencyMs : 10) })
      world.serve(0, rewriting(world.honest(0), lie))
      const outcome = await world.lookup(ALICE, { threshold: 'strong' })
      expect(outcome).toMatchObject({ kind: 'verified', agreed: ['sv-2', 'sv-3', 'sv-4'] })
      await world.clock.pass(100)
      expect(world.reader.status().nodes.map(({ dissents }) => dissents)).toEqual([1, 0, 0, 0])
      expect(world.loadCount()).toBe(0)
    }
  })

  it('says of a fork that it has seen what the whole reader says', async () => {
    const forks: Fork[] = []
    const world = createLeanWorld({
      reader: { onFork: (fork) => forks.push(fork) },
      latencyMs: (url) => (/[12]$/.test(url) ? 40 : 1),
    })
    const other = world.ledger.fork()
    other.append({ recordTime: world.clock.nowMicros(), remove: ['bob.unverified.ns'] })
    world.append()
    for (const node of world.nodes.slice(0, 2)) node.ledger = other
    for (const node of world.nodes) node.head = 4
    expect(await world.lookup(ALICE)).toMatchObject({ kind: 'verified', offset: 4 })
    await world.clock.pass(100)
    expect(forks).toHaveLength(1)
    expect(world.loadCount()).toBe(0)
    expect(await world.lookup(ALICE)).toMatchObject({ kind: 'disputed', reason: 'fork' })
    expect(world.loadCount()).toBe(1)
  })
})
