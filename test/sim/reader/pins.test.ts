import type { SimHandler } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { ALICE, createWorld, hung, rewriting } from './world.ts'

/** Changes the head that the node reports. */
function claiming(handler: SimHandler, head: number): SimHandler {
  return async (request) => {
    const reply = await handler(request)
    return reply && { ...reply, headers: { ...reply.headers, 'x-ledger-head': String(head) } }
  }
}

describe('the pin', () => {
  it('is not raised by a node that reports too high a head', async () => {
    for (const head of [4, 1000, Number.MAX_SAFE_INTEGER]) {
      const { timed, serve, honest } = createWorld()
      serve(0, claiming(honest(0), head))
      const { outcome, ms } = await timed(ALICE, { threshold: 'strong' })
      expect(outcome, String(head)).toMatchObject({ kind: 'verified', offset: 3 })
      expect(ms).toBeLessThan(20)
    }
  })

  it('of a new reader is not lowered by the first reply if it has a low head', async () => {
    for (const threshold of ['weak', 'strong'] as const) {
      const { lookup, serve, honest } = createWorld({
        latencyMs: (url) => (url.endsWith(':1') ? 1 : 3),
      })
      serve(0, claiming(honest(0), 1))
      expect(await lookup(ALICE, { threshold })).toMatchObject({ kind: 'verified', offset: 3 })
    }
  })

  it('of a new reader does not wait for hung nodes', async () => {
    const { timed, serve } = createWorld()
    serve(2, hung)
    serve(3, hung)
    const { outcome, ms } = await timed(ALICE)
    expect(outcome).toMatchObject({ kind: 'verified', offset: 3 })
    expect(ms).toBeLessThan(15)
  })

  it('is reached by waiting for nodes that lag slightly', async () => {
    const { lookup, timed, append, nodes, ledger, clock } = createWorld()
    await lookup(ALICE)
    append(['carol.unverified.ns'], { nodes: [0, 1] })
    await lookup(ALICE) // Two nodes now report offset 4.
    clock.schedule(100, () => {
      for (const node of nodes) node.head = ledger.head()
    })
    const { outcome, ms } = await timed('carol.unverified.ns', {
      threshold: 'strong',
      minOffset: 4,
    })
    expect(outcome).toMatchObject({ kind: 'verified', offset: 4 })
    expect(ms).toBeLessThan(150)
  })

  it('is chosen again, lower, if votes do not arrive', async () => {
    // A weak read pins offset 10, which only sv-1 and the liar have. The liar's vote differs from sv-1's.
    const { lookup, timed, append, serve, honest, nodes } = createWorld()
    await lookup(ALICE)
    for (let count = 0; count < 7; count++) append([], { nodes: [0, 1] })
    serve(
      1,
      rewriting(honest(1), (body) => body.replaceAll('alice::', 'mallory::')),
    )
    for (const index of [2, 3]) (nodes[index] as (typeof nodes)[number]).head = 8
    await lookup('missing.unverified.ns') // The reader learns of offset 10.
    const { outcome, ms } = await timed(ALICE)
    expect(outcome).toMatchObject({ kind: 'verified', offset: 8 })
    expect(ms).toBeLessThan(700)
  })

  it('is chosen again, higher, if the other nodes have pruned it', async () => {
    // The first reply reports head 0, which the others have pruned (D-10).
    const { lookup, serve, honest } = createWorld({
      latencyMs: (url) => (url.endsWith(':1') ? 1 : 3),
    })
    serve(0, claiming(honest(0), 0))
    for (const index of [1, 2, 3])
      serve(index, async (request) => {
        const reply = await honest(index)(request)
        const batch = JSON.parse(new TextDecoder().decode(request.body ?? new Uint8Array()) || '{}')
        return reply && batch.at_offset < 2 ? { ...reply, status: 410 } : reply
      })
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified', offset: 3 })
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified', offset: 3 })
  })

  it('is chosen again although a node reports that it lags slightly', async () => {
    // Only sv-1 has the pinned offset. sv-4 reports a false head, and never votes.
    const { lookup, append, clock, serve, honest, nodes } = createWorld()
    await lookup(ALICE)
    for (let count = 0; count < 7; count++) append([], { nodes: [0] })
    for (const index of [1, 2]) (nodes[index] as (typeof nodes)[number]).head = 6
    serve(3, async (request) => {
      const reply = await claiming(honest(0), 9)(request)
      const isAsked = new TextDecoder().decode(request.body ?? new Uint8Array()).includes('name')
      if (reply === null || !isAsked) return reply
      const body = new TextEncoder().encode('{"code":"OFFSET_NOT_REACHED"}')
      return { ...reply, status: 503, body }
    })
    await lookup('missing.unverified.ns') // The reader learns of the heads.
    await clock.advance(20)
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified', offset: 6 })
  })

  it('never decreases for one reader', async () => {
    const { lookup, timed, append, serve, nodes, reader } = createWorld()
    append()
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified', offset: 4 })
    for (const node of nodes) node.head = 3
    const { outcome, ms } = await timed(ALICE)
    expect(outcome).toMatchObject({
      kind: 'lagging',
      reason: 'not-reached',
      wantedOffset: 4,
      headOffset: 3,
    })
    expect(ms).toBeLessThan(700)
    expect(reader.status().floor).toBe(4)
    serve(0, null)
    for (const node of nodes) node.head = 4
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified', offset: 4 })
  })

  it('is chosen from the heads of all nodes after a second without reads', async () => {
    const { lookup, append, clock } = createWorld()
    await lookup(ALICE)
    await clock.advance(1500)
    append(['carol.unverified.ns'])
    expect(await lookup('carol.unverified.ns')).toMatchObject({ kind: 'verified', offset: 4 })
  })

  it('is shared by concurrent lookups, which use at most three offsets', async () => {
    const offsets = new Set<number>()
    const { reader, clock, serve, honest, nodes, append } = createWorld({ nodeCount: 13 })
    for (let count = 0; count < 20; count++) append([], { nodes: [] })
    for (const [index, node] of nodes.entries()) node.head = 3 + index
    for (const index of nodes.keys())
      serve(index, (request) => {
        const body = JSON.parse(new TextDecoder().decode(request.body ?? new Uint8Array()) || '{}')
        if (body.at_offset !== undefined) offsets.add(body.at_offset)
        return honest(index)(request)
      })
    await clock.run(reader.lookup([{ name: ALICE }]))
    offsets.clear()
    const reads = [5, 6, 7, 8, 9, 10, 11, 12, 13].flatMap((threshold) =>
      [0, 1, 2, 3, 4, 5].map((minOffset) =>
        reader.lookup([{ name: ALICE }], { threshold, minOffset }),
      ),
    )
    await clock.run(Promise.all(reads))
    expect(offsets.size).toBeLessThanOrEqual(3)
  })
})

describe('a minimum offset of one call', () => {
  it('makes the read wait for that offset', async () => {
    const { lookup, timed, append, clock } = createWorld()
    await lookup(ALICE)
    clock.schedule(80, () => append(['carol.unverified.ns']))
    const { outcome, ms } = await timed('carol.unverified.ns', { minOffset: 4 })
    expect(outcome).toMatchObject({ kind: 'verified', offset: 4 })
    expect(ms).toBeLessThan(150)
  })

  it('is lagging after the node wait if it is above every head', async () => {
    const { lookup, timed, network } = createWorld()
    await lookup(ALICE)
    const { outcome, ms } = await timed(ALICE, { minOffset: 1_000_000 })
    expect(outcome).toMatchObject({
      kind: 'lagging',
      reason: 'floor',
      wantedOffset: 1_000_000,
      headOffset: 3,
    })
    expect(ms).toBeGreaterThanOrEqual(250)
    expect(ms).toBeLessThan(330)
    expect(network.requestCounts.size).toBeGreaterThan(0)
  })

  it.each([-1, 0.5, Number.NaN])('of %d is refused', async (minOffset) => {
    const { reader } = createWorld()
    await expect(reader.lookup([{ name: ALICE }], { minOffset })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })
})

describe('freshness', () => {
  it('refuses an answer whose record time is too old, although all agree (D-39)', async () => {
    const { lookup, clock } = createWorld()
    await lookup(ALICE)
    await clock.advance(60_000)
    const outcome = await lookup(ALICE)
    // The newest record time was 1 s old at first, and the lookups take less than a second.
    const ageMs = expect.closeTo(61_500, -3)
    expect(outcome).toMatchObject({ kind: 'lagging', reason: 'stale', ageMs })
    expect(await lookup(ALICE, { maxAgeMs: 70_000 })).toMatchObject({ kind: 'verified' })
    expect(await lookup(ALICE, { maxAgeMs: Number.POSITIVE_INFINITY })).toMatchObject({
      kind: 'verified',
    })
  })

  it('refuses old answers of two stuck nodes', async () => {
    const { lookup, append, clock, serve } = createWorld()
    await lookup(ALICE)
    await clock.advance(61_000)
    append([], { nodes: [2, 3] })
    serve(2, hung)
    serve(3, hung)
    expect(await lookup(ALICE)).toMatchObject({ kind: 'lagging', reason: 'stale' })
  })

  it('reads again at a newer offset if one exists', async () => {
    const { lookup, append, clock, nodes } = createWorld({ reader: { waitMs: 2000 } })
    await lookup(ALICE)
    for (let count = 0; count < 62; count++) {
      await clock.advance(900)
      await lookup(ALICE, { maxAgeMs: Number.POSITIVE_INFINITY })
    }
    append([], { nodes: [0, 1, 2, 3] })
    expect(nodes[0]?.head).toBe(4)
    // The known heads are old. The first answer contains the new heads.
    expect(await lookup(ALICE, { maxAgeMs: 30_000 })).toMatchObject({ kind: 'verified', offset: 4 })
  })
})

describe('the verified floor', () => {
  it('survives a restart', async () => {
    let stored = 0
    const floorStore = {
      load: async () => stored,
      save: (offset: number) => {
        stored = offset
      },
    }
    const first = createWorld({ reader: { floorStore } })
    first.append()
    await first.lookup(ALICE)
    expect(stored).toBe(4)
    const second = createWorld({ reader: { floorStore } })
    expect(await second.lookup(ALICE)).toMatchObject({ kind: 'lagging', wantedOffset: 4 })
  })

  it('makes reads fail with NO_FLOOR while the store cannot be read', async () => {
    let isBroken = true
    const load = async () => {
      if (isBroken) throw new Error('the store is down')
      return 3
    }
    const { reader, lookup } = createWorld({ reader: { floorStore: { load, save: () => {} } } })
    await expect(reader.lookup([{ name: ALICE }])).rejects.toMatchObject({ code: 'NO_FLOOR' })
    isBroken = false
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified' })
  })
})
