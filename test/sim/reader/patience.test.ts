/** The reader waits for slow nodes that may still answer in time, and recovers with its nodes (D-38). */
import { entriesBytesMax } from '@quorumscan/reader'
import { createReader } from '@quorumscan/reader/voted'
import { describe, expect, it } from 'vitest'
import { createStalls } from '../stalls.ts'
import { ALICE, createWorld, hung, type ReaderWorld } from './world.ts'

const SDK_WAIT_MS = 10_000
const ALL = [0, 1, 2, 3]

const page = {
  operation: 'listEntries',
  parameters: { name_prefix: '', page_size: 10, page_token: null },
  method: 'GET',
  path: '/v0/ans-entries?page_size=10',
  body: null,
  bytesMax: entriesBytesMax(10),
} as const

/** Sends lookups continuously, without awaiting them. */
async function readRepeatedly(world: ReaderWorld, input: { ms: number; read: () => Promise<unknown> }) {
  for (let passed = 0; passed < input.ms; passed += 100) {
    input.read().catch(() => {})
    await world.clock.advance(100)
  }
}

describe('the reader', () => {
  it.each([
    [1500, 4700],
    [2500, 7700],
  ])('waits for nodes that take %i ms to answer', async (latencyMs, msMax) => {
    const world = createWorld({
      reader: { waitMs: SDK_WAIT_MS },
      latencyMs: () => latencyMs / 2,
    })
    // Addresses, heads and votes are requested one after the other.
    const { outcome, ms } = await world.timed(ALICE)
    expect(outcome).toMatchObject({ kind: 'verified' })
    expect(ms).toBeLessThan(msMax)
  })

  it('retries lost requests', async () => {
    const world = createWorld({ reader: { waitMs: SDK_WAIT_MS } })
    const lost = new Set<string>()
    for (const index of ALL)
      world.serve(index, (request) => {
        const what = `${index} ${request.path} ${request.body?.byteLength}`
        if (lost.has(what)) return world.honest(index)(request)
        lost.add(what)
        return hung(request)
      })
    expect(await world.lookup(ALICE)).toMatchObject({ kind: 'verified' })
  })

  it.each([
    ['lookups', 2000, (world: ReaderWorld) => world.reader.lookup([{ name: ALICE }])],
    ['lookups', SDK_WAIT_MS, (world: ReaderWorld) => world.reader.lookup([{ name: ALICE }])],
    ['pages', 2000, async (world: ReaderWorld) => [await world.reader.read(page)]],
    ['pages', SDK_WAIT_MS, async (world: ReaderWorld) => [await world.reader.read(page)]],
  ])('recovers when its nodes recover: %s with a deadline of %i ms', async (_what, waitMs, read) => {
    for (const outage of [hung, null])
      for (const ms of [700, 3000, 13_000]) {
        const world = createWorld({ reader: { waitMs } })
        await world.clock.run(read(world))
        for (const index of ALL) world.serve(index, outage)
        await readRepeatedly(world, { ms, read: () => read(world) })
        for (const index of ALL) world.serve(index, world.honest(index))
        await readRepeatedly(world, { ms: 5000, read: () => read(world) })
        const [outcome] = await world.clock.run(read(world))
        expect(outcome, `${outage === null ? 'down' : 'hung'} for ${ms} ms`).toMatchObject({
          kind: expect.stringMatching(/^verified/),
        })
      }
  })

  it('does not count a stall of its own process as lateness of a node', async () => {
    const latencyMs = 20
    for (const stalledAfterMs of [1, 30, 70, 90, 110, 130]) {
      const stalls = createStalls()
      const world = createWorld({
        latencyMs: () => latencyMs,
        create: (options) => createReader(stalls.through(options)),
      })
      const lookup = world.reader.lookup([{ name: ALICE }])
      await world.clock.advance(stalledAfterMs)
      stalls.begin(world.clock, 5000)
      await world.clock.advance(5000)
      const [outcome] = await world.clock.run(lookup)
      expect(outcome, `stalled after ${stalledAfterMs} ms`).toMatchObject({ kind: 'verified' })
    }
  })
})
