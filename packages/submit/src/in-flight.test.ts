/** When an entry that must not precede a record time is submitted. */
import { systemRandom } from '@quorumscan/base'
import type { AppliedEntry } from '@quorumscan/ledger'
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createInFlight } from './in-flight.ts'

const SECOND = 1_000_000

/** A log whose clock differs from ours by `skewMs`. It writes a checkpoint when it is asked for one. */
function setUp({ skewMs = 0, isDeaf = false } = {}) {
  const clock = createManualClock()
  const offered: { readonly name: string; readonly atMs: number }[] = []
  const logNow = () => clock.nowMicros() + skewMs * 1000
  const inFlight = createInFlight({
    ordering: {
      async submit(bytes) {
        const name = bytes.byteLength === 0 ? 'checkpoint' : Buffer.from(bytes).toString()
        offered.push({ name, atMs: clock.monotonicMs() })
        if (bytes.byteLength > 0 || !isDeaf) apply()
      },
    },
    clock,
    random: systemRandom,
    waitsForRoom: true,
  })
  const apply = () =>
    inFlight.onApplied({
      recordTime: logNow(),
      entryHash: '',
      result: { kind: 'checkpoint' },
    } as unknown as AppliedEntry)
  const stop = new AbortController()
  const add = (name: string, notBefore: number) =>
    inFlight.add(
      {
        entryHash: name,
        bytes: () => new Uint8Array(Buffer.from(name)),
        notBefore,
        notAfter: Number.MAX_SAFE_INTEGER,
        onApplied: () => {},
        onExpired: () => {},
        onRefused: () => {},
        signal: stop.signal,
      },
      logNow(),
    )
  const namesOf = () => offered.map(({ name }) => name)
  return { clock, offered, namesOf, inFlight, apply, add, stop, logNow }
}

it.each([0, -8_000, 8_000])(
  'is the moment when the clock of the log reaches the time, although nothing is written; skew %i ms',
  async (skewMs) => {
    const log = setUp({ skewMs })
    log.apply()
    await log.clock.advance(1_000)
    log.add('entry', log.logNow() + 2 * SECOND)
    await log.clock.advance(1_999)
    expect(log.namesOf()).toEqual([])
    await log.clock.advance(1)
    expect(log.offered).toEqual([
      { name: 'checkpoint', atMs: 3_000 },
      { name: 'entry', atMs: 3_000 },
    ])
    await log.clock.advance(60_000)
    expect(log.namesOf()).toEqual(['checkpoint', 'entry'])
  },
)

it('is never before record time has reached it, and checkpoints are asked for less and less often', async () => {
  const log = setUp({ isDeaf: true })
  log.add('entry', log.logNow() + 2 * SECOND)
  await log.clock.advance(12_000)
  expect(new Set(log.namesOf())).toEqual(new Set(['checkpoint']))
  expect(log.offered.length).toBeGreaterThan(5)
  expect(log.offered.length).toBeLessThan(15)
  log.apply()
  await log.clock.advance(0)
  expect(log.namesOf().at(-1)).toBe('entry')
})

it('is the same for many entries, each at its time, with one checkpoint for those of one time', async () => {
  const log = setUp()
  const start = log.logNow()
  for (const [name, seconds] of [
    ['c', 5],
    ['a', 2],
    ['b', 2],
    ['now', 0],
  ] as const)
    log.add(name, start + seconds * SECOND)
  await log.clock.advance(10_000)
  expect(log.namesOf()).toEqual(['now', 'checkpoint', 'a', 'b', 'checkpoint', 'c'])
})

it('never comes for an entry that is given up or removed', async () => {
  const log = setUp()
  log.add('removed', log.logNow() + 2 * SECOND)
  log.inFlight.remove('removed')
  await log.clock.advance(3_000)
  log.add('given up', log.logNow() + 2 * SECOND)
  log.stop.abort()
  await log.clock.advance(60_000)
  expect(log.namesOf()).not.toContain('removed')
  expect(log.namesOf()).not.toContain('given up')
  expect(log.offered.length).toBeLessThan(2)
})
