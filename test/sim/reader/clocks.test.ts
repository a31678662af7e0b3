import type { SimClock, SimHandler } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { ALICE, createWorld, START_MICROS } from './world.ts'

/** A world whose reader has a clock that is ahead by `aheadMs`, which may change. */
function createSkewedWorld(aheadMs: number) {
  const device = { aheadMs }
  let right: SimClock | undefined
  const clock = {
    nowMicros: () => (right?.nowMicros() ?? START_MICROS) + device.aheadMs * 1000,
    monotonicMs: () => right?.monotonicMs() ?? 0,
    delay: async (ms: number, signal?: AbortSignal) => right?.delay(ms, signal),
  }
  const world = createWorld({ reader: { clock } })
  right = world.clock
  return { ...world, device, skewMs: () => world.reader.status().clock.skewMs }
}

/** Changes the record time that the node states. */
function claiming(handler: SimHandler, recordTime: string): SimHandler {
  return async (request) => {
    const reply = await handler(request)
    return reply && { ...reply, headers: { ...reply.headers, 'x-ledger-record-time': recordTime } }
  }
}

describe('a reader of votes whose device has a wrong clock', () => {
  // The newest record time is 1 s old.
  it.each([
    { aheadMs: 0, isProven: false },
    { aheadMs: -9000, isProven: false },
    { aheadMs: -12_000, isProven: true },
    { aheadMs: -300_000, isProven: true },
    { aheadMs: -300_000_000_000, isProven: true },
  ])('reports that its clock is $aheadMs ms ahead', async ({ aheadMs, isProven }) => {
    const { lookup, device, skewMs } = createSkewedWorld(aheadMs)
    expect(skewMs()).toBeNull()
    const { kind, clockSkewMs } = await lookup(ALICE)
    expect(kind).toBe('verified')
    for (const shown of [clockSkewMs, skewMs()]) {
      expect(shown !== null).toBe(isProven)
      expect(shown ?? -aheadMs).toBeGreaterThan(-aheadMs - 1100)
      expect(shown ?? -aheadMs).toBeLessThanOrEqual(-aheadMs)
    }
    device.aheadMs = 0
    expect(skewMs()).toBeNull()
  })

  it('notices an old answer after its clock was set back', async () => {
    const { lookup, device, clock, reader } = createSkewedWorld(0)
    await lookup(ALICE)
    await clock.advance(70_000)
    device.aheadMs = -70_000
    const outcome = await lookup(ALICE, { maxAgeMs: 60_000 })
    expect(outcome).toMatchObject({ kind: 'lagging', reason: 'stale' })
    expect(outcome.clockSkewMs).toBeGreaterThan(60_000)
    expect(reader.status().clock.skewMs).toBeGreaterThan(60_000)
  })

  it('counts answers as stale while its clock is ahead', async () => {
    const { lookup } = createSkewedWorld(300_000)
    const outcome = await lookup(ALICE)
    expect(outcome).toMatchObject({ kind: 'lagging', reason: 'stale', clockSkewMs: null })
  })

  it('is not convinced by a record time that f nodes state', async () => {
    const { lookup, serve, honest, skewMs } = createSkewedWorld(0)
    serve(0, claiming(honest(0), '2033-11-14T22:13:20.000000Z'))
    const outcome = await lookup(ALICE)
    expect(outcome).toMatchObject({ kind: 'verified', clockSkewMs: null })
    expect(skewMs()).toBeNull()
  })
})
