/** Whom a reader of votes asks, when it asks more, and how it notices those that it does not need (D-98). */
import type { SimHandler } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { ALICE, createWorld, hung, type ReaderWorld, rewriting } from './world.ts'

const lying = (body: string) => body.replaceAll('alice::', 'mallory::')
const text = (body: Uint8Array | null) => new TextDecoder().decode(body ?? new Uint8Array())

/** Counts the requests for votes that reach each node. */
function countAsked(world: ReaderWorld, handlerOf = world.honest) {
  const counts = world.nodes.map(() => 0)
  for (const index of world.nodes.keys())
    world.serve(index, (request) => {
      if (text(request.body).includes('name')) counts[index] = (counts[index] ?? 0) + 1
      return handlerOf(index)(request)
    })
  return counts
}

/** Always the same reply. */
const alone =
  (status: number, body: string, headers: Record<string, string> = {}): SimHandler =>
  async () => ({
    status,
    headers: { 'content-type': 'application/json', 'x-ledger-head': '3', ...headers },
    body: new TextEncoder().encode(body),
  })

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)

/** Looks names up one after the other. */
async function lookupEvery(
  world: ReaderWorld,
  { ms, forMs, name = () => ALICE }: { ms: number; forMs: number; name?: (turn: number) => string },
): Promise<number> {
  const untilMs = world.clock.monotonicMs() + forMs
  let turn = 0
  for (; world.clock.monotonicMs() < untilMs; turn++) {
    if (turn % 20 === 0) world.append()
    expect(await world.lookup(name(turn))).toMatchObject({
      kind: expect.stringMatching(/^verified/),
    })
    await world.clock.advance(ms)
  }
  return turn
}

describe('a read asks', () => {
  it.each([
    ['weak', 4, 2],
    ['strong', 4, 3],
    ['all', 4, 4],
    ['weak', 13, 5],
    ['strong', 13, 9],
    [7, 13, 7],
  ] as const)('as many nodes as must agree: %s of %i', async (threshold, nodeCount, count) => {
    const world = createWorld({ nodeCount })
    await world.lookup(ALICE)
    const counts = countAsked(world)
    for (let turn = 1; turn <= 20; turn++) {
      const { outcome, ms } = await world.timed(ALICE, { threshold })
      expect(outcome).toMatchObject({ kind: 'verified' })
      // One exchange.
      expect(ms).toBe(2)
      expect(outcome.asked).toHaveLength(count)
      expect(outcome.agreed).toEqual(outcome.asked)
      expect(sum(counts)).toBe(turn * count)
    }
  })

  it.each([
    ['hangs', hung, 50],
    ['is down', null, 0],
    ['answers 500', alone(500, '{}'), 0],
    ['lags', alone(503, '{"code":"OFFSET_NOT_REACHED"}'), 0],
    ['answers nonsense', alone(200, '{}'), 0],
  ] as const)('one more as soon as one of them %s', async (_, handler, silentMs) => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const world = createWorld({ order: seed })
      await world.lookup(ALICE)
      world.serve(1, handler)
      const { outcome, ms } = await world.timed(ALICE)
      expect(outcome).toMatchObject({ kind: 'verified', dissented: [] })
      const isHit = outcome.asked?.includes('sv-2') === true
      expect(outcome.asked).toHaveLength(isHit ? 3 : 2)
      expect(ms).toBeLessThan(10 + (isHit ? silentMs : 0))
    }
  })

  it('one more as soon as one of them takes three times its usual time', async () => {
    const world = createWorld({ latencyMs: () => 20, order: 'genesis' })
    for (let turn = 0; turn < 3; turn++) await world.lookup(ALICE)
    world.serve(1, hung)
    expect((await world.timed(ALICE)).ms).toBeCloseTo(3 * 40 + 40, 0)
  })

  it('one more as soon as two of them disagree, and names the one that is outvoted', async () => {
    let hitCount = 0
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const world = createWorld({ order: seed })
      await world.lookup(ALICE)
      world.serve(1, rewriting(world.honest(1), lying))
      const { outcome, ms } = await world.timed(ALICE)
      const isHit = outcome.asked?.includes('sv-2') === true
      if (isHit) hitCount++
      expect(outcome).toMatchObject({ kind: 'verified', dissented: isHit ? ['sv-2'] : [] })
      expect(outcome.asked).toHaveLength(isHit ? 3 : 2)
      expect(ms).toBeLessThan(10)
    }
    expect(hitCount).toBeGreaterThan(0)
  })

  it('enough nodes, although all liars agree with each other', async () => {
    for (const order of ['genesis', 1, 2, 3, 4, 5, 6, 7] as const) {
      const world = createWorld({ nodeCount: 13, order, latencyMs: () => 5 })
      await world.lookup(ALICE)
      for (const index of [0, 1, 2, 3]) world.serve(index, rewriting(world.honest(index), lying))
      const { outcome, ms } = await world.timed(ALICE)
      expect(outcome).toMatchObject({ kind: 'verified' })
      expect(outcome.agreed.filter((node) => /sv-[1234]$/.test(node))).toEqual([])
      // Four exchanges at most.
      expect(ms).toBeLessThan(45)
    }
  })

  it('all nodes if it must, and is disputed only then', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    const counts = countAsked(world, (index) =>
      rewriting(world.honest(index), (body) => body.replaceAll('alice::', `sv${index}::`)),
    )
    expect(await world.lookup(ALICE)).toMatchObject({ kind: 'disputed', answered: 4 })
    expect(counts).toEqual([1, 1, 1, 1])
  })
})

describe('the order of asking', () => {
  it('gives each node its share', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    const counts = countAsked(world)
    for (let turn = 0; turn < 300; turn++) await world.lookup(ALICE)
    for (const count of counts) expect(count / 300).toBeCloseTo(0.5, 0.9)
  })

  it('gives a node that answers first no more than its share', async () => {
    const world = createWorld({ latencyMs: (url) => (url.endsWith(':1') ? 0.01 : 5) })
    await world.lookup(ALICE)
    const counts = countAsked(world)
    await lookupEvery(world, { ms: 0, forMs: 2500 })
    const [first = 0, ...others] = counts
    expect(first / (sum(others) / 3)).toBeLessThan(1.3)
  })

  it('asks a slow node seldom, and again when it is quick', async () => {
    let slowMs = 40
    const world = createWorld({ latencyMs: (url) => (url.endsWith(':1') ? slowMs : 2) })
    await world.lookup(ALICE)
    await world.clock.advance(200)
    const counts = countAsked(world)
    const readCount = await lookupEvery(world, { ms: 30, forMs: 5000 })
    // About once a second, with all others.
    expect(counts[0]).toBeLessThan(12)
    slowMs = 2
    await lookupEvery(world, { ms: 200, forMs: 25_000 })
    const before = counts[0] ?? 0
    await lookupEvery(world, { ms: 30, forMs: 5000 })
    expect((counts[0] ?? 0) - before).toBeGreaterThan(readCount / 4)
  })

  it('asks a node last that was outvoted, although it was quick until it was trusted', async () => {
    const world = createWorld({ latencyMs: (url) => (url.endsWith(':1') ? 0.1 : 3) })
    await world.lookup(ALICE)
    let isLying = false
    const counts = countAsked(world, (index) => (request) => {
      const handler = world.honest(index)
      return index === 0 && isLying ? rewriting(handler, lying)(request) : handler(request)
    })
    await lookupEvery(world, { ms: 10, forMs: 3000 })
    expect(counts[0]).toBeGreaterThan(20)
    isLying = true
    counts[0] = 0
    await lookupEvery(world, { ms: 10, forMs: 10_000 })
    // Once or twice before it was noticed, and then by the sample.
    expect(counts[0]).toBeLessThan(25)
    expect(world.reader.status().nodes.map(({ dissents }) => dissents)).toEqual([
      counts[0],
      0,
      0,
      0,
    ])
  })

  it('asks a node last that cannot answer', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    const counts = countAsked(world, (index) =>
      index === 1 ? alone(500, '{}') : world.honest(index),
    )
    await lookupEvery(world, { ms: 20, forMs: 4000 })
    // Once before that is known, and by the sample, once a second.
    expect(counts[1]).toBeLessThan(8)
  })

  it('asks a node last that is silent, so that it delays one read', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    world.serve(1, hung)
    const times: number[] = []
    for (let turn = 0; turn < 60; turn++) {
      const { outcome, ms } = await world.timed(ALICE)
      expect(outcome).toMatchObject({ kind: 'verified' })
      times.push(ms)
      await world.clock.advance(10)
    }
    expect(times.filter((ms) => ms >= 10)).toHaveLength(1)
    expect(Math.max(...times)).toBeLessThan(60)
  })
})

describe('lone reads, six seconds apart,', () => {
  it('do not wait each time for a node that hangs', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    world.serve(1, hung)
    const times: number[] = []
    for (let turn = 0; turn < 12; turn++) {
      world.append()
      const { outcome, ms } = await world.timed(ALICE)
      expect(outcome).toMatchObject({ kind: 'verified' })
      times.push(ms)
      await world.clock.advance(6000)
    }
    // The first one finds out.
    expect(times.slice(1).filter((ms) => ms > 10)).toEqual([])
  })
})

it('after an idle second, a strong read waits no longer for a hung node because weak ones are read', async () => {
  const { clock, lookup, reader, serve } = createWorld({ latencyMs: () => 5 })
  await lookup(ALICE)
  serve(1, hung)
  await clock.advance(1500)
  const reads: Promise<unknown>[] = []
  let endedAtMs = 0
  const beganAtMs = clock.monotonicMs() + 150
  for (let turn = 0; turn < 200; turn++) {
    reads.push(reader.lookup([{ name: ALICE }]))
    if (turn === 50)
      reads.push(
        reader.lookup([{ name: ALICE }], { threshold: 'strong' }).then(([outcome]) => {
          expect(outcome).toMatchObject({ kind: 'verified' })
          endedAtMs = clock.monotonicMs()
        }),
      )
    await clock.advance(3)
  }
  await clock.run(Promise.all(reads))
  // One exchange with the three nodes that answer.
  expect(endedAtMs - beganAtMs).toBeLessThan(50)
})

describe('a node that refuses', () => {
  it.each([
    ['with 429', alone(429, '{}')],
    ['with 500', alone(500, '{}')],
    ['with 503', alone(503, '{}')],
    ['with HTML', alone(200, '<html>', { 'content-type': 'text/html', 'x-ledger-head': '' })],
    ['to name its head', alone(200, '{}', { 'x-ledger-head': '' })],
  ] as const)('%s is asked for its head once a second', async (_, handler) => {
    const world = createWorld()
    await world.lookup(ALICE)
    let probeCount = 0
    world.serve(3, (request) => {
      if (!text(request.body).includes('name')) probeCount++
      return handler(request)
    })
    await lookupEvery(world, { ms: 2, forMs: 3000 })
    expect(probeCount).toBeLessThan(5)
  })
})

describe('a sample of the reads', () => {
  it('asks all nodes once a second, or one read in 64', async () => {
    for (const [ms, share] of [
      [20, 1 / 45],
      [0.5, 1 / 64],
    ] as const) {
      const world = createWorld({ latencyMs: () => 0.5 })
      await world.lookup(ALICE)
      const counts = countAsked(world)
      const readCount = await lookupEvery(world, { ms, forMs: ms < 1 ? 1000 : 5000 })
      const sampledCount = (sum(counts) - 2 * readCount) / 2
      expect(sampledCount / readCount).toBeGreaterThan(share * 0.7)
      expect(sampledCount / readCount).toBeLessThan(share * 1.4)
    }
  })

  it('shows a node within two seconds that lies about each name', async () => {
    for (const seed of [1, 2, 3]) {
      const world = createWorld({ nodeCount: 13, order: seed })
      await world.lookup(ALICE)
      world.serve(12, rewriting(world.honest(12), lying))
      await lookupEvery(world, { ms: 50, forMs: 2000 })
      expect(world.reader.status().nodes[12]?.dissents).toBeGreaterThan(0)
    }
  })

  it('shows a node within ten seconds that lies about one name of twenty', async () => {
    for (const seed of [1, 2, 3]) {
      const world = createWorld({ order: seed })
      await world.lookup(ALICE)
      world.serve(3, rewriting(world.honest(3), lying))
      const name = (turn: number) => (turn % 20 === 0 ? ALICE : `n${turn}.unverified.ns`)
      await lookupEvery(world, { ms: 20, forMs: 10_000, name })
      expect(world.reader.status().nodes[3]?.dissents).toBeGreaterThan(0)
    }
  })

  it('shows a fork of nodes that are not asked', async () => {
    const world = createWorld({ nodeCount: 7 })
    await world.lookup(ALICE)
    const other = world.ledger.fork()
    world.append()
    other.append({ recordTime: world.clock.nowMicros(), remove: [ALICE] })
    for (const index of [0, 1, 2]) {
      const node = world.nodes[index] as ReaderWorld['nodes'][number]
      node.ledger = other
      node.head = other.head()
    }
    for (let turn = 0; turn < 60; turn++) {
      await world.lookup(ALICE)
      await world.clock.advance(50)
    }
    expect(world.reader.status().forks).toHaveLength(1)
  })
})

describe('heads', () => {
  it('of all nodes are known while reads are sent, within a second', async () => {
    for (const nodeCount of [4, 13]) {
      const world = createWorld({ nodeCount })
      await world.lookup(ALICE)
      const heads = () => world.reader.status().nodes.map(({ head }) => head ?? 0)
      for (let turn = 0; turn < 8; turn++) {
        world.append()
        const written = world.ledger.head()
        const untilMs = world.clock.monotonicMs() + 1100
        while (world.clock.monotonicMs() < untilMs) {
          await world.lookup(ALICE)
          await world.clock.advance(40)
        }
        expect(Math.min(...heads())).toBe(written)
      }
    }
  })

  it('are asked again while a read waits for that of a node which takes long', async () => {
    const world = createWorld({
      reader: { waitMs: 10_000 },
      latencyMs: (url) => (url.endsWith(':4') ? 1250 : 1),
    })
    const { outcome, ms } = await world.timed(ALICE, { threshold: 'all' })
    expect(outcome).toMatchObject({ kind: 'verified' })
    expect(ms).toBeLessThan(5500)
  })

  it('of a node that claims none any more do not count after two seconds', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    // Three nodes claim no head any more; the pin of a strong read needs three.
    const claimless =
      (index: number): SimHandler =>
      async (request) => {
        const reply = await world.honest(index)(request)
        return reply && { ...reply, headers: { ...reply.headers, 'x-ledger-head': '' } }
      }
    for (const index of [1, 2, 3]) world.serve(index, claimless(index))
    const kinds = new Map<string, number>()
    const beganAtMs = world.clock.monotonicMs()
    while (world.clock.monotonicMs() - beganAtMs < 4000) {
      const { kind } = await world.lookup(ALICE, { threshold: 'strong' })
      kinds.set(kind, world.clock.monotonicMs() - beganAtMs)
      await world.clock.advance(100)
    }
    expect(kinds.get('verified')).toBeGreaterThan(1500)
    expect(kinds.get('verified')).toBeLessThan(2200)
    expect(kinds.get('insufficient')).toBeGreaterThan(3900)
  })
})
