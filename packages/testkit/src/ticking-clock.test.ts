import { expect, it } from 'vitest'
import { createTickingClock } from './ticking-clock.ts'

it('passes no deadline while the process is busy, and each one later', async () => {
  const clock = createTickingClock()
  let isOver = false
  const delay = clock.delay(50).then(() => {
    isOver = true
  })
  const startMs = performance.now()
  while (performance.now() - startMs < 100);
  await new Promise((resolve) => setImmediate(resolve))
  expect([isOver, clock.monotonicMs() < 50]).toEqual([false, true])
  await delay
  expect(clock.monotonicMs()).toBeGreaterThanOrEqual(50)
})
