import type { Fork } from '@quorumscan/reader'
import { describe, expect, it } from 'vitest'
import { ALICE, createWorld, untilSample } from './world.ts'

/** Gives some nodes another log from the next offset on. */
function fork(world: ReturnType<typeof createWorld>, indexes: readonly number[]): void {
  const other = world.ledger.fork()
  other.append({ recordTime: world.clock.nowMicros(), remove: [ALICE] })
  world.append([], { nodes: world.nodes.map((_, index) => index) })
  for (const index of indexes) {
    const node = world.nodes[index]
    if (node === undefined) continue
    node.ledger = other
    node.head = other.head()
  }
}

describe('a fork', () => {
  it('between nodes makes a read disputed if both sides have an honest node', async () => {
    const forks: Fork[] = []
    const world = createWorld({
      nodeCount: 7,
      order: 'genesis',
      reader: { onFork: (seen) => forks.push(seen) },
    })
    await world.lookup(ALICE)
    fork(world, [0, 1, 2])
    const outcome = await world.lookup(ALICE, { threshold: 'strong', minOffset: 4 })
    expect(outcome).toMatchObject({ kind: 'disputed', reason: 'fork' })
    expect(forks).toHaveLength(1)
    expect(forks[0]?.histories.map((history) => history.nodes.length).sort()).toEqual([3, 3])
    expect(world.reader.status().forks).toHaveLength(1)
  })

  it('is detected even after an answer was returned', async () => {
    const forks: Fork[] = []
    const world = createWorld({
      nodeCount: 7,
      reader: { onFork: (seen) => forks.push(seen) },
      latencyMs: (url) => (['1', '2', '3'].includes(url.slice(-1)) ? 40 : 1),
    })
    await world.lookup(ALICE)
    await untilSample(world)
    fork(world, [0, 1, 2])
    expect(await world.lookup(ALICE, { minOffset: 4 })).toMatchObject({ kind: 'verified' })
    expect(forks).toHaveLength(0)
    await world.clock.advance(200)
    expect(forks).toHaveLength(1)
  })

  it('that f nodes invent does not affect reads', async () => {
    const world = createWorld({ nodeCount: 7, order: 'genesis' })
    await world.lookup(ALICE)
    fork(world, [0, 1])
    expect(await world.lookup(ALICE, { threshold: 'strong', minOffset: 4 })).toMatchObject({
      kind: 'verified',
      dissented: ['sv-1', 'sv-2'],
    })
  })

  it('between the local replica and the nodes makes a read disputed', async () => {
    const forks: Fork[] = []
    const world = createWorld({
      reader: {
        localHistoryHash: async (offset) =>
          offset < 4 ? world.ledger.pointAt(offset).historyHash : 'ab'.repeat(32),
        onFork: (seen) => forks.push(seen),
      },
    })
    expect(await world.lookup(ALICE)).toMatchObject({ kind: 'verified' })
    world.append()
    expect(await world.lookup(ALICE, { minOffset: 4 })).toMatchObject({
      kind: 'disputed',
      reason: 'fork',
    })
    expect(forks[0]?.histories.map(({ nodes }) => nodes)).toContainEqual(['local'])
  })

  it('check does not wait for a local replica that lags, fails or hangs', async () => {
    const replicas = [
      async () => null,
      async () => {
        throw new Error('away')
      },
      () => {
        throw new Error('away')
      },
      () => new Promise<null>(() => {}),
    ]
    for (const localHistoryHash of replicas) {
      const { timed } = createWorld({ reader: { localHistoryHash } })
      const { outcome, ms } = await timed(ALICE)
      expect(outcome).toMatchObject({ kind: 'verified' })
      expect(ms).toBeLessThan(90)
    }
  })

  it('is detected when the local replica reaches the offset later', async () => {
    const forks: Fork[] = []
    let isReached = false
    const world = createWorld({
      reader: {
        localHistoryHash: async () => (isReached ? 'ab'.repeat(32) : null),
        onFork: (seen) => forks.push(seen),
      },
    })
    expect(await world.lookup(ALICE)).toMatchObject({ kind: 'verified' })
    isReached = true
    await world.clock.advance(1100)
    world.append()
    await world.lookup(ALICE)
    await world.clock.advance(10)
    expect(forks.map(({ offset }) => offset)).toContain(3)
  })
})
