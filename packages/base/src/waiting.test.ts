import { expect, it } from 'vitest'
import { createSystemClock } from './clock.ts'
import { waitFor } from './waiting.ts'

it('waits longer and longer between two polls, up to 250 ms', async () => {
  let nowMs = 0
  const pauses: number[] = []
  const clock = {
    ...createSystemClock(),
    monotonicMs: () => nowMs,
    delay: async (ms: number) => {
      pauses.push(ms)
      nowMs += ms
    },
  }
  const options = { clock, timeoutMs: 10_000, intervalMs: 20, what: 'nothing' }
  await expect(waitFor(() => undefined, options)).rejects.toThrow('10000 ms waiting for nothing')
  expect(nowMs).toBe(10_000)
  const last = pauses.pop() ?? 0
  expect([pauses[0], pauses.at(-1), last <= 250]).toEqual([20, 250, true])
  expect(pauses).toEqual(pauses.toSorted((one, other) => one - other))
  expect(pauses.length).toBeLessThan(80)
})
