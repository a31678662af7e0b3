import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createKeyRate } from './key-rate.ts'

const limited = expect.objectContaining({ code: 'RATE_LIMITED' })

function setUp(keysMax = 10) {
  const clock = createManualClock()
  const rate = createKeyRate({ entriesPerSecond: 5, clock, keysMax })
  const take = (key: string, count: number) => {
    for (let index = 0; index < count; index++) rate.admit(key)
  }
  return { clock, rate, take }
}

it('grants two seconds of entries at once, then the rate', async () => {
  const { clock, rate, take } = setUp()
  take('a', 10)
  expect(() => rate.admit('a')).toThrow(limited)
  await clock.advance(199)
  expect(() => rate.admit('a')).toThrow(limited)
  await clock.advance(1)
  take('a', 1)
  expect(() => rate.admit('a')).toThrow(limited)
  await clock.advance(3_600_000)
  take('a', 10)
  expect(() => rate.admit('a')).toThrow(limited)
})

it('lets no key use the budget of another', () => {
  const { rate, take } = setUp()
  take('a', 10)
  take('b', 10)
  expect(() => rate.admit('b')).toThrow(expect.objectContaining({ retryAfterSeconds: 1 }))
})

it('turns new keys away while all that it remembers are busy, and forgets those that rest', async () => {
  const { clock, rate, take } = setUp(2)
  take('a', 10)
  take('b', 1)
  expect(() => rate.admit('c')).toThrow(limited)
  expect(() => rate.admit('a')).toThrow(limited)
  await clock.advance(2000)
  take('c', 10)
  expect(() => rate.admit('c')).toThrow(limited)
})
