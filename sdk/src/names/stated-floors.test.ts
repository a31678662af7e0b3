/** An offset that one server states stops no read for longer than two seconds, whichever the source. */
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createSharedStore } from '../platform/shared-store.ts'
import { createMemoryStore } from '../platform/store.ts'
import { LATER } from '../scan-later.ts'
import { createReads } from './reads.ts'
import { createStored } from './write-floor.ts'

const HEAD = 7
const HUGE = Number.MAX_SAFE_INTEGER

/** A client whose nodes are at an offset. A read at a higher one ends as lagging at its end. */
function createWorld(writer = 0, store = createMemoryStore()) {
  const clock = createManualClock()
  const nodes = { head: HEAD, floor: 0, isDown: false }
  const asked: number[] = []
  const lookup = async (
    _: unknown,
    bound: { readonly minOffset?: number; readonly endsAtMs?: number },
  ) => {
    const { minOffset = 0, endsAtMs = Number.POSITIVE_INFINITY } = bound
    asked.push(minOffset)
    if (nodes.isDown || minOffset > nodes.head) {
      await clock.delay(endsAtMs - clock.monotonicMs())
      return [{ kind: nodes.isDown ? 'insufficient' : 'lagging' }]
    }
    nodes.floor = Math.max(nodes.floor, nodes.head)
    return [{ kind: 'verified', offset: nodes.head }]
  }
  const opened = {
    reader: {
      lookup,
      status: () => ({ floor: nodes.floor }),
      nowMicros: () => clock.nowMicros(),
    },
    options: { genesisHash: '00' },
  }
  const reads = createReads({
    client: { store },
    clock,
    basis: 'proof',
    network: '00',
    stored: createStored(createSharedStore(store, clock), clock, async () => '00'),
    writer: { writtenOffset: async () => writer },
    open: async () => opened as never,
    later: LATER,
  })
  /** What a lookup returns, and after how many ms. */
  const look = async (more: object = {}) => {
    const beganMs = clock.monotonicMs()
    const endsAtMs = beganMs + 10_000
    const looking = reads.lookup([{ name: 'a' }], { endsAtMs, ...more })
    let ended = false
    void looking.finally(() => {
      ended = true
    })
    while (!ended) {
      await new Promise((resolve) => setImmediate(resolve))
      if (!ended) await clock.advance(100)
    }
    const [outcome] = await looking
    return { kind: outcome?.kind, afterMs: clock.monotonicMs() - beganMs }
  }
  return { reads, nodes, asked, clock, look, store }
}

type World = ReturnType<typeof createWorld>

/** Each source of a floor. */
const SOURCES: Record<string, () => Promise<{ world: World; read?: object }>> = {
  'the header of an answer, or readFrom': async () => {
    const world = createWorld()
    await world.reads.writeFloor.record(HUGE)
    return { world }
  },
  'another client of the store': async () => {
    const other = createWorld()
    await other.reads.writeFloor.record(HUGE)
    return { world: createWorld(0, other.store) }
  },
  'the client of `validator`': async () => ({ world: createWorld(HUGE) }),
  'a frame of a WebSocket': async () => ({ world: createWorld(), read: { statedOffset: HUGE } }),
}

it.each(Object.entries(SOURCES))(
  'a huge offset of %s delays one read, by 2 s, and is named',
  async (_, state) => {
    const { world, read } = await state()
    expect(await world.look(read)).toMatchObject({ kind: 'verified' })
    expect(world.asked).toEqual([HUGE, 0])
    expect(world.clock.monotonicMs()).toBeLessThanOrEqual(2200)
    expect(world.reads.unconfirmedOffset()).toBe(HUGE)
    expect(await world.look(read)).toEqual({ kind: 'verified', afterMs: expect.any(Number) })
    expect(world.asked).toEqual([HUGE, 0, 0])
  },
)

it('an offset that nodes reach in time holds, and names nothing', async () => {
  const world = createWorld()
  world.nodes.head = HEAD + 1
  await world.reads.writeFloor.record(HEAD + 1)
  await world.look()
  expect([world.asked, world.reads.unconfirmedOffset()]).toEqual([[HEAD + 1], null])
})

it('a lower offset still holds, of the same source and of others', async () => {
  const world = createWorld(HEAD)
  await world.reads.writeFloor.record(HUGE)
  await world.look()
  world.nodes.floor = 0
  world.nodes.head = HEAD + 2
  await world.reads.writeFloor.record(HEAD + 2)
  await world.look()
  expect(world.asked.at(-1)).toBe(HEAD + 2)
})

it('an offset that is reached later is a floor again', async () => {
  const world = createWorld()
  await world.reads.writeFloor.record(HEAD + 3)
  await world.look()
  expect(world.reads.unconfirmedOffset()).toBe(HEAD + 3)
  world.nodes.head = HEAD + 3
  await world.look()
  expect(world.reads.unconfirmedOffset()).toBe(null)
})

it('while no node answers, the offset holds: nothing shows that it is invented', async () => {
  const world = createWorld()
  world.nodes.isDown = true
  await world.reads.writeFloor.record(HEAD)
  expect(await world.look()).toMatchObject({ kind: 'insufficient' })
  expect(world.reads.unconfirmedOffset()).toBe(null)
})

it('`minOffset` of a call is a demand, and is not dropped', async () => {
  const world = createWorld()
  expect(await world.look({ minOffset: HEAD + 1 })).toMatchObject({ kind: 'lagging' })
  await world.reads.writeFloor.record(HUGE)
  expect(await world.look({ minOffset: HEAD + 1 })).toMatchObject({ kind: 'lagging' })
  expect(world.asked).toEqual([HEAD + 1, HUGE, HEAD + 1])
})
