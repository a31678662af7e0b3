import type { SimHandler } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { ALICE, answerOf, createWorld, hung, rewriting, untilSample } from './world.ts'

const lying = (body: string) => body.replaceAll('alice::', 'mallory::')

describe('a lookup', () => {
  it('is verified at one offset, with the nodes that agreed', async () => {
    const { lookup, ledger } = createWorld()
    const outcome = await lookup(ALICE)
    expect(outcome).toMatchObject({
      kind: 'verified',
      threshold: 2,
      nodeCount: 4,
      dissented: [],
      ...ledger.pointAt(3),
    })
    expect(answerOf(outcome)).toMatchObject({ entry: { name: ALICE } })
  })

  it('of an unknown name is verified-absent', async () => {
    const { lookup } = createWorld()
    expect(await lookup('missing.unverified.ns')).toMatchObject({ kind: 'verified-absent' })
  })

  it('by party returns the entry of the party', async () => {
    const { reader, clock } = createWorld()
    const party = `alice::1220${'a'.repeat(64)}`
    const [found, missing] = await clock.run(
      reader.lookup([{ party }, { party: party.replace('alice', 'carol') }]),
    )
    expect(found && answerOf(found)).toMatchObject({ entry: { user: party, name: ALICE } })
    expect(missing).toMatchObject({ kind: 'verified-absent' })
  })

  it.each([
    [1, 'trusted', 'trusted-absent'],
    [3, 'trusted', 'trusted-absent'],
    [4, 'verified', 'verified-absent'],
  ])('with n = %i is %s (D-34)', async (n, kind, absent) => {
    const { lookup } = createWorld({ nodeCount: n })
    expect(await lookup(ALICE)).toMatchObject({ kind })
    expect(await lookup('missing.unverified.ns')).toMatchObject({ kind: absent })
  })

  it.each(['weak', 'strong', 'all', 2, 3, 4] as const)('meets threshold %s', async (threshold) => {
    const { lookup } = createWorld()
    const needed = { weak: 2, strong: 3, all: 4 }[threshold as string] ?? threshold
    const outcome = await lookup(ALICE, { threshold })
    expect(outcome).toMatchObject({ kind: 'verified', threshold: needed })
    expect('agreed' in outcome && outcome.agreed.length).toBeGreaterThanOrEqual(needed as number)
  })

  it.each([0, 1, 5, 2.5, Number.NaN])('refuses threshold %d of four', async (threshold) => {
    const { reader } = createWorld()
    await expect(reader.lookup([{ name: ALICE }], { threshold })).rejects.toMatchObject({
      code: 'INVALID_THRESHOLD',
    })
  })

  it.each([
    ['down', null, 10],
    // A hung node delays the first read that asks it.
    ['hung', hung, 60],
  ])('is answered without delay while two of four nodes are %s', async (_, handler, msMax) => {
    const { lookup, timed, serve } = createWorld()
    await lookup(ALICE)
    serve(2, handler)
    serve(3, handler)
    const { outcome, ms } = await timed(ALICE)
    expect(outcome).toMatchObject({ kind: 'verified', agreed: ['sv-1', 'sv-2'] })
    expect(ms).toBeLessThan(msMax)
    expect((await timed(ALICE)).ms).toBeLessThan(msMax)
    for (let count = 0; count < 20; count++) expect((await timed(ALICE)).ms).toBeLessThan(10)
  })

  it('is insufficient with the number of reachable nodes, without delay once the others are known to be down', async () => {
    const { lookup, timed, serve, honest, clock } = createWorld()
    await lookup(ALICE)
    for (const index of [1, 2, 3]) serve(index, null)
    const refused = { kind: 'insufficient', reachable: 1, needed: 2 }
    expect(await lookup(ALICE)).toMatchObject(refused)
    const { outcome, ms } = await timed(ALICE)
    expect(outcome).toMatchObject(refused)
    expect(ms).toBe(0)
    for (const index of [1, 2, 3]) serve(index, honest(index))
    await clock.advance(900)
    await lookup(ALICE) // A read makes the reader probe them.
    await clock.advance(100)
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified' })
  })

  it('is insufficient with a retry time only if other nodes refuse by rate limits', async () => {
    const { lookup, serve, honest, clock } = createWorld()
    const refusing =
      (seconds: string): SimHandler =>
      async () => ({
        status: 429,
        headers: { 'content-type': 'application/json', 'retry-after': seconds },
        body: new TextEncoder().encode('{"code":"RATE_LIMITED"}'),
      })
    await lookup(ALICE)
    for (const [index, seconds] of ['5', '9', 'soon'].entries()) serve(index, refusing(seconds))
    const waiting = { kind: 'insufficient', reachable: 1, needed: 2 }
    // The reader assumes one second for the node with an invalid retry-after.
    expect(await lookup(ALICE)).toMatchObject({
      ...waiting,
      retryAfterMs: expect.closeTo(1000, -2),
    })
    serve(2, null)
    await clock.advance(1000)
    expect(await lookup(ALICE)).toMatchObject({
      ...waiting,
      retryAfterMs: expect.closeTo(5000, -2),
    })
    serve(1, null)
    serve(3, null)
    await clock.advance(12_000)
    await lookup(ALICE)
    await clock.advance(100) // Then the others are known to be down.
    expect(await lookup(ALICE)).toMatchObject({ ...waiting, reachable: 0, retryAfterMs: null })
    for (const index of [0, 1]) serve(index, honest(index))
    await clock.advance(1000)
    await lookup(ALICE)
    await clock.advance(100)
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified' })
  })

  it('counts nodes that have reported a head if its deadline passes before it has an offset', async () => {
    const { lookup, serve } = createWorld({ reader: { waitMs: 500 } })
    for (const index of [1, 2, 3]) serve(index, hung)
    expect(await lookup(ALICE)).toMatchObject({ kind: 'insufficient', reachable: 1, needed: 2 })
  })

  it('detects hung nodes after its deadline, and detects that they are back', async () => {
    const { lookup, timed, serve, honest, clock } = createWorld()
    await lookup(ALICE)
    for (const index of [1, 2, 3]) serve(index, hung)
    const first = await timed(ALICE)
    expect(first.outcome).toMatchObject({ kind: 'insufficient', reachable: 1 })
    expect(first.ms).toBeGreaterThanOrEqual(2000)
    expect(first.ms).toBeLessThan(2100)
    const second = await timed(ALICE)
    expect(second.outcome).toMatchObject({ kind: 'insufficient' })
    // Two of them were asked later than the first.
    expect(second.ms).toBeLessThan(110)
    expect((await timed(ALICE)).ms).toBe(0)
    for (const index of [1, 2, 3]) serve(index, honest(index))
    for (let count = 0; count < 30; count++) {
      await lookup(ALICE)
      await clock.advance(100)
    }
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified' })
  })

  it('sends a hung node one request a second, and few to a node that is down', async () => {
    const { lookup, serve, network, urls, clock } = createWorld()
    await lookup(ALICE)
    let open = 0
    let openMax = 0
    serve(2, (request) => {
      if (request.channel === 'bulk') return hung(request)
      openMax = Math.max(openMax, ++open)
      return new Promise(() => request.signal.addEventListener('abort', () => open--))
    })
    serve(3, null)
    const before = network.requestCounts.get(urls[3] as string) ?? 0
    for (let count = 0; count < 600; count++) {
      await lookup(ALICE)
      await clock.advance(10)
      if (count === 450) openMax = open
    }
    // Each of them hangs for its deadline of two seconds.
    expect(openMax).toBeLessThanOrEqual(3)
    // Six seconds of reading: probes at growing intervals, and address requests, no lookups.
    expect((network.requestCounts.get(urls[3] as string) ?? 0) - before).toBeLessThan(35)
  })

  it('is decided without a liar, and lists the liar as dissenting', async () => {
    const { lookup, serve, honest, reader } = createWorld()
    serve(0, rewriting(honest(0), lying))
    const outcome = await lookup(ALICE, { threshold: 'strong' })
    expect(outcome).toMatchObject({
      kind: 'verified',
      agreed: ['sv-2', 'sv-3', 'sv-4'],
      dissented: ['sv-1'],
      answered: 4,
    })
    expect(reader.status().nodes.map((node) => node.dissents)).toEqual([1, 0, 0, 0])
  })

  it('counts the dissent of a liar that answers after the decision', async () => {
    const world = createWorld({ latencyMs: (url) => (url.endsWith(':1') ? 40 : 1) })
    const { lookup, serve, honest, reader, clock } = world
    await lookup(ALICE)
    await untilSample(world)
    serve(0, rewriting(honest(0), lying))
    expect(await lookup(ALICE)).toMatchObject({ kind: 'verified', answered: 2, dissented: [] })
    await clock.advance(200)
    expect(reader.status().nodes.map((node) => node.dissents)).toEqual([1, 0, 0, 0])
  })

  it('is disputed as soon as no group can reach the threshold', async () => {
    const { timed, lookup, serve, honest, ledger } = createWorld({ order: 'genesis' })
    await lookup(ALICE)
    serve(0, rewriting(honest(0), lying))
    serve(
      1,
      rewriting(honest(1), (body) => body.replaceAll('alice::', 'eve::')),
    )
    serve(2, hung)
    const { outcome, ms } = await timed(ALICE, { threshold: 3 })
    expect(ms).toBeLessThan(10)
    expect(outcome).toMatchObject({
      kind: 'disputed',
      reason: 'votes',
      groups: [
        { nodes: ['sv-1'], offset: 3, historyHash: ledger.pointAt(3).historyHash },
        { nodes: ['sv-2'] },
        { nodes: ['sv-4'], entry: { name: ALICE } },
      ],
    })
    expect(JSON.stringify(outcome)).not.toContain('backslash')
  })

  it('is disputed, not lagging, on a tie between the reachable nodes', async () => {
    const { lookup, serve, honest } = createWorld()
    await lookup(ALICE)
    serve(0, rewriting(honest(0), lying))
    serve(1, null)
    serve(2, null)
    expect(await lookup(ALICE)).toMatchObject({ kind: 'disputed', reason: 'votes' })
  })

  it('can be cancelled', async () => {
    const { reader, clock, lookup, serve } = createWorld()
    await lookup(ALICE)
    for (const index of [0, 1, 2, 3]) serve(index, hung)
    const abort = new AbortController()
    const reading = reader.lookup([{ name: ALICE }], { signal: abort.signal })
    reading.catch(() => {})
    await clock.advance(5)
    abort.abort(new Error('no longer needed'))
    await expect(clock.run(reading)).rejects.toThrow('no longer needed')
    expect(reader.status().waiting).toBe(0)
    await expect(reader.lookup([{ name: ALICE }], { signal: abort.signal })).rejects.toThrow()
  })

  it('can be cancelled while the read floor is loaded', async () => {
    let resolveFloor: (floor: number) => void = () => {}
    const load = () =>
      new Promise<number>((resolve) => {
        resolveFloor = resolve
      })
    const { reader } = createWorld({ reader: { floorStore: { load, save: () => {} } } })
    const abort = new AbortController()
    const reading = reader.lookup([{ name: ALICE }], { signal: abort.signal })
    abort.abort(new Error('no longer needed'))
    resolveFloor(0)
    await expect(reading).rejects.toThrow('no longer needed')
    expect(reader.status().waiting).toBe(0)
  })

  it('ends when the reader is closed', async () => {
    const { reader, clock, lookup, serve } = createWorld()
    await lookup(ALICE)
    for (const index of [0, 1, 2, 3]) serve(index, hung)
    const reading = reader.lookup([{ name: ALICE }])
    reading.catch(() => {})
    await clock.advance(5)
    await reader[Symbol.asyncDispose]()
    await expect(clock.run(reading)).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(reader.lookup([{ name: ALICE }])).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('a trust rule', () => {
  const trust = { members: ['sv-1', 'sv-2', 'sv-3'], threshold: 2 }
  const STRANGERS = [3, 4, 5, 6]

  it('is met by votes of its members, and no other node is asked', async () => {
    const world = createWorld({ nodeCount: 7, reader: { trust } })
    const asked: string[] = []
    for (const index of STRANGERS) {
      const lies = rewriting(world.honest(index), lying)
      world.serve(index, (request) => {
        asked.push(request.path)
        return lies(request)
      })
    }
    world.serve(2, rewriting(world.honest(2), lying))
    const outcome = await world.lookup(ALICE)
    expect(outcome).toMatchObject({
      kind: 'verified',
      threshold: 2,
      nodeCount: 3,
      trust,
      agreed: ['sv-1', 'sv-2'],
    })
    expect(answerOf(outcome)).toMatchObject({ entry: { user: expect.stringMatching(/^alice::/) } })
    await world.clock.advance(60_000)
    await world.lookup(ALICE)
    expect(asked).toEqual([])
    expect(world.reader.status()).toMatchObject({ nodeCount: 3, faultyMax: 1 })
  })

  it('is not met by all others', async () => {
    const world = createWorld({ nodeCount: 7, reader: { trust } })
    await world.lookup(ALICE)
    for (const index of [0, 1]) world.serve(index, null)
    for (const index of STRANGERS) world.serve(index, rewriting(world.honest(index), lying))
    expect(await world.lookup(ALICE)).toMatchObject({ kind: 'insufficient', reachable: 1, trust })
  })

  it('of one believes each of its members', async () => {
    const { lookup } = createWorld({ reader: { trust: { members: ['sv-4'], threshold: 1 } } })
    expect(await lookup(ALICE)).toMatchObject({ kind: 'trusted', agreed: ['sv-4'], threshold: 1 })
    await expect(lookup(ALICE, { threshold: 2 })).rejects.toMatchObject({
      code: 'INVALID_THRESHOLD',
    })
  })
})
