import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createKeyRate } from './key-rate.ts'

const limited = expect.objectContaining({ code: 'RATE_LIMITED' })

function setUp(keysMax = 10) {
  const clock = createManualClock()
  const rate = createKeyRate({ entriesPerSecond: 5, clock, keysMax })
  const take = (key: string, count: number) => {
    for (let index = 0; index < count; index++) rate.admit(key, 1000)
  }
  return { clock, rate, take }
}

it('grants two seconds of entries at once, then the rate', async () => {
  const { clock, rate, take } = setUp()
  take('a', 10)
  expect(() => rate.admit('a', 1000)).toThrow(limited)
  await clock.advance(199)
  expect(() => rate.admit('a', 1000)).toThrow(limited)
  await clock.advance(1)
  take('a', 1)
  expect(() => rate.admit('a', 1000)).toThrow(limited)
  await clock.advance(3_600_000)
  take('a', 10)
  expect(() => rate.admit('a', 1000)).toThrow(limited)
})

it('lets no key use the budget of another', () => {
  const { rate, take } = setUp()
  take('a', 10)
  take('b', 10)
  expect(() => rate.admit('b', 1000)).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }))
})

it('turns new keys away while all that it remembers are busy, and forgets those that rest', async () => {
  const { clock, rate, take } = setUp(2)
  take('a', 10)
  take('b', 1)
  expect(() => rate.admit('c', 1000)).toThrow(limited)
  expect(() => rate.admit('a', 1000)).toThrow(limited)
  await clock.advance(2000)
  take('c', 10)
  expect(() => rate.admit('c', 1000)).toThrow(limited)
})

it('counts a large entry as several, and admits even the largest with a full budget', async () => {
  const { clock, rate, take } = setUp()
  rate.admit('a', 9 * 2048)
  take('a', 1)
  expect(() => rate.admit('a', 1)).toThrow(limited)
  await clock.advance(1000)
  expect(() => rate.admit('a', 6 * 2048)).toThrow(limited)
  rate.admit('a', 5 * 2048)
  rate.admit('b', 256 * 1024)
  expect(() => rate.admit('b', 1)).toThrow(limited)
})
