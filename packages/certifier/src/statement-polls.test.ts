/** How often a member is polled. */
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createPollPace } from './statement-polls.ts'

const newer = (checkCount: number, startedMs = 0) =>
  ({ startedMs, checkCount, outcome: 'newer' }) as const
const stale = (startedMs: number) => ({ startedMs, checkCount: 0, outcome: 'stale' }) as const

it('a member whose polls wait for a newer statement is polled again at once', async () => {
  const clock = createManualClock()
  const pace = createPollPace(clock)
  for (let poll = 0; poll < 10; poll++) {
    const startedMs = clock.monotonicMs()
    await clock.advance(5000)
    expect(pace(stale(startedMs))).toBe(0)
  }
})

it('a member that fails is polled again after half a second, and its back-off is kept', () => {
  const pace = createPollPace(createManualClock())
  const failed = { startedMs: 0, checkCount: 0, outcome: 'failed' } as const
  expect([stale(0), stale(0), failed, failed, stale(0)].map(pace)).toEqual([
    500, 1000, 500, 500, 2000,
  ])
})

it('32 signatures a second are verified, 64 of them at once', async () => {
  const clock = createManualClock()
  const pace = createPollPace(clock)
  expect(pace(newer(64))).toBe(0)
  expect(pace(newer(1))).toBe(1000 / 32)
  expect(pace(newer(63))).toBe(2000)
  await clock.advance(10_000)
  expect(pace(newer(64, 10_000))).toBe(0)
  expect(pace({ startedMs: 10_000, checkCount: 64, outcome: 'failed' })).toBe(2000)
})
