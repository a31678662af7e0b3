import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { Keeper } from './keeper.ts'

/** A process that ends as soon as it is started. */
function setUp() {
  const clock = createManualClock(0)
  const starts: number[] = []
  const told: string[] = []
  const keeper = new Keeper({
    clock,
    start: async () => {
      starts.push(clock.monotonicMs())
    },
    tell: (_id, sentence) => told.push(sentence),
  })
  return { clock, keeper, starts, told }
}

it('starts again later and later what does not last, and says so; anew what lasted', async () => {
  const { clock, keeper, starts, told } = setUp()
  const pausesMs: number[] = []
  const end = async () => {
    const endedMs = clock.monotonicMs()
    const count = starts.length
    keeper.noteEnd('sv-1', 'SIGKILL')
    while (starts.length === count) await clock.advance(100)
    pausesMs.push(clock.monotonicMs() - endedMs)
  }
  for (let count = 0; count < 5; count++) await end()
  expect(keeper.isHopeless('sv-1')).toBe(true)
  await clock.advance(15_000)
  expect([keeper.isHopeless('sv-1'), keeper.endOf('sv-1')]).toEqual([false, null])
  await end()
  expect(pausesMs).toEqual([100, 400, 1600, 6400, 10_000, 100])
  expect(told[3]).toMatch(/sv-1 exited unexpectedly .*\(SIGKILL\); it is started again in 6 s/)
})

it('starts nothing any more once it is closed', async () => {
  const { clock, keeper, starts } = setUp()
  keeper.noteEnd('sv-1', 'SIGKILL')
  keeper.close()
  keeper.noteEnd('sv-2', 'SIGKILL')
  await clock.advance(20_000)
  expect(starts).toEqual([])
})
