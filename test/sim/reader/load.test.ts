import type { Lookup } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { ALICE, createWorld, hung } from './world.ts'

const name = (index: number): string => `n${index}.unverified.ns`

/** Observes the requests that reach a node. */
function watched(world: ReturnType<typeof createWorld>, index: number) {
  const seen = { sizes: [] as number[], inFlight: 0, inFlightMax: 0 }
  world.serve(index, async (request) => {
    if (request.channel === 'bulk') return world.honest(index)(request)
    const { lookups } = JSON.parse(new TextDecoder().decode(request.body ?? new Uint8Array()))
    seen.sizes.push(lookups.length)
    seen.inFlightMax = Math.max(seen.inFlightMax, ++seen.inFlight)
    try {
      return await world.honest(index)(request)
    } finally {
      seen.inFlight--
    }
  })
  return seen
}

describe('many lookups', () => {
  it('of the same moment share one request', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    const seen = watched(world, 0)
    const reads = Array.from({ length: 100 }, (_, index) =>
      world.reader.lookup([{ name: name(index) }]),
    )
    await world.clock.run(Promise.all(reads))
    expect(seen.sizes).toEqual([100])
  })

  it('are sent in at most four concurrent batches of 256', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    const seen = watched(world, 0)
    const lookups: Lookup[] = Array.from({ length: 250 }, (_, index) => ({ name: name(index) }))
    const calls = Array.from({ length: 20 }, () => world.reader.lookup(lookups))
    const outcomes = (await world.clock.run(Promise.all(calls))).flat()
    expect(new Set(outcomes.map((outcome) => outcome.kind))).toEqual(new Set(['verified-absent']))
    expect(outcomes).toHaveLength(5000)
    expect(Math.max(...seen.sizes)).toBe(256)
    expect(seen.inFlightMax).toBeLessThanOrEqual(4)
  })

  it('gather while two batches are in flight, for 20 ms at most', async () => {
    const world = createWorld({ latencyMs: () => 50 })
    const { clock, reader, nodes } = world
    await world.lookup(ALICE)
    const seen = nodes.map((_, index) => watched(world, index))
    const times: number[] = []
    const calls: Promise<void>[] = []
    for (let turn = 0; turn < 60; turn++) {
      const beganAtMs = clock.monotonicMs()
      const note = () => void times.push(clock.monotonicMs() - beganAtMs)
      calls.push(reader.lookup([{ name: name(turn) }]).then(note))
      await clock.advance(5)
    }
    await clock.run(Promise.all(calls))
    expect(Math.max(...times)).toBeLessThanOrEqual(121)
    // Two nodes are asked each time: one request to each for about four lookups.
    const requestCount = seen.reduce((sum, { sizes }) => sum + sizes.length, 0)
    expect(requestCount).toBeLessThan(2 * (60 / 3))
  })

  it('each get their own answer', async () => {
    const world = createWorld()
    const names = Array.from({ length: 300 }, (_, index) => name(index))
    world.append(names.filter((_, index) => index % 3 === 0))
    await world.lookup(ALICE, { minOffset: 4 })
    for (const threshold of ['weak', 'all'] as const) {
      const reads = names.map((one) => world.reader.lookup([{ name: one }], { threshold }))
      for (const [index, [outcome]] of (await world.clock.run(Promise.all(reads))).entries()) {
        const answer = new TextDecoder().decode((outcome as { answer: Uint8Array }).answer)
        expect(JSON.parse(answer).entry?.name ?? null).toBe(index % 3 === 0 ? name(index) : null)
      }
    }
  })

  it('above the limit are refused with OVERLOADED, and the others continue', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    const lookups: Lookup[] = Array.from({ length: 256 }, (_, index) => ({ name: name(index) }))
    const calls = Array.from({ length: 100 }, () => world.reader.lookup(lookups))
    const settled = await world.clock.run(Promise.allSettled(calls))
    const refused = settled.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(100 - Math.floor(20_000 / 256))
    expect(refused[0]).toMatchObject({ reason: { code: 'OVERLOADED' } })
    expect(world.reader.status().waiting).toBe(0)
  })

  it('above the capacity of the nodes are refused soon, and the admitted ones are answered', async () => {
    const world = createWorld({ latencyMs: () => 150 })
    await world.lookup(ALICE)
    const lookups: Lookup[] = Array.from({ length: 256 }, (_, index) => ({ name: name(index) }))
    const calls: Promise<unknown>[] = []
    const kinds: Record<string, number> = {}
    const count = (kind: string) => {
      kinds[kind] = (kinds[kind] ?? 0) + 1
    }
    // The nodes answer four batches in 300 ms. The test sends ten times as many.
    for (let sent = 0; sent < 60; sent++) {
      calls.push(
        world.reader.lookup(lookups).then(
          (outcomes) => count(outcomes[0]?.kind ?? ''),
          (error: { code: string }) => count(error.code),
        ),
      )
      await world.clock.advance(7.5)
    }
    await world.clock.run(Promise.all(calls))
    expect(Object.keys(kinds).sort()).toEqual(['OVERLOADED', 'verified-absent'])
    // The lookups that the nodes can answer within the allowed wait of half a second.
    expect(kinds['verified-absent']).toBeGreaterThanOrEqual(8)
  })

  it('in one call may be 0 to 256', async () => {
    const { reader } = createWorld()
    const lookups = new Array<Lookup>(257).fill({ name: ALICE })
    await expect(reader.lookup(lookups)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(reader.lookup([])).resolves.toEqual([])
  })

  it('of threshold all, which wait for a hung node, do not delay others', async () => {
    const world = createWorld()
    await world.lookup(ALICE)
    world.serve(3, hung)
    const all = Array.from({ length: 50 }, () =>
      world.reader.lookup([{ name: ALICE }], { threshold: 'all' }),
    )
    await world.clock.advance(20)
    const more = Array.from({ length: 50 }, () =>
      world.reader.lookup([{ name: ALICE }], { threshold: 'all' }),
    )
    const { outcome, ms } = await world.timed(ALICE)
    expect(outcome).toMatchObject({ kind: 'verified' })
    expect(ms).toBeLessThan(10)
    const outcomes = (await world.clock.run(Promise.all([...all, ...more]))).flat()
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['insufficient']))
  })
})
