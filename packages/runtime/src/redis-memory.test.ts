import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { Metrics } from './metrics.ts'
import { describeMemory, watchRedisMemory } from './redis-memory.ts'

const MIB = 2 ** 20
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

async function setUp(memoryBytesMax = 1000 * MIB) {
  const clock = createManualClock(0)
  const metrics = new Metrics(clock)
  const redis = { memoryBytes: 100 * MIB, memoryBytesMax, fileBytes: 0, directory: '' }
  let isUp = true
  const memory = await watchRedisMemory({
    redis: {
      async usage() {
        if (!isUp) throw new Error('down')
        return redis
      },
    },
    clock,
    metrics,
    everyMs: MINUTE_MS,
  })
  return {
    clock,
    memory,
    use(mib: number) {
      redis.memoryBytes = mib * MIB
    },
    stop() {
      isUp = false
    },
    daysLeftMetric: async () =>
      /^quorumscan_redis_days_left (.*)$/m.exec((await metrics.expose()).text)?.[1],
    [Symbol.asyncDispose]: memory[Symbol.asyncDispose],
  }
}

it('tells the days that are left until the log refuses, at the present rate', async () => {
  await using own = await setUp()
  expect(own.memory.report()).toEqual({
    usedBytes: 100 * MIB,
    maxBytes: 1000 * MIB,
    daysLeft: null,
  })
  expect(await own.daysLeftMetric()).toBeUndefined()
  // 100 MiB in six hours: 700 MiB until 90 % take 42 hours.
  own.use(200)
  await own.clock.advance(6 * HOUR_MS)
  expect(own.memory.report()?.daysLeft).toBeCloseTo(42 / 24, 2)
  expect(Number(await own.daysLeftMetric())).toBeCloseTo(42 / 24, 2)
  own.use(950)
  await own.clock.advance(MINUTE_MS)
  expect(own.memory.report()?.daysLeft).toBe(0)
})

it('knows no end while the memory does not grow', async () => {
  await using own = await setUp()
  own.use(90)
  await own.clock.advance(HOUR_MS)
  expect(own.memory.report()?.daysLeft).toBeNull()
})

it('forgets growth that ended more than a day ago', async () => {
  await using own = await setUp()
  own.use(500)
  for (let hour = 0; hour < 30; hour++) await own.clock.advance(HOUR_MS)
  expect(own.memory.report()?.daysLeft).toBeNull()
})

it('warns from 80 % on, and keeps the last measurement while Redis does not answer', async () => {
  await using own = await setUp()
  own.use(799)
  await own.clock.advance(MINUTE_MS)
  expect(own.memory.detail()).toBeNull()
  own.use(800)
  await own.clock.advance(MINUTE_MS)
  own.stop()
  await own.clock.advance(MINUTE_MS)
  expect(own.memory.share()).toBe(0.8)
  expect(own.memory.detail()).toBe('the memory of its Redis is full to 80 % of 1000 MiB')
})

it('reports nothing of a Redis without a limit', async () => {
  await using own = await setUp(0)
  expect([own.memory.use(), own.memory.share(), own.memory.report(), own.memory.detail()]).toEqual([
    null,
    null,
    null,
    null,
  ])
})

it.each([
  [null, '50 % of 2 MiB'],
  [3.26, '50 % of 2 MiB, 3.3 days are left at the present rate'],
  [400.9, '50 % of 2 MiB, 400 days are left at the present rate'],
])('describes it with %s days left', (days, text) => {
  expect(describeMemory({ usedBytes: MIB, maxBytes: 2 * MIB }, days)).toBe(text)
})
