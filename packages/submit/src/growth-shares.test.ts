import { createManualClock, DAY_MICROS } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createGrowthShares } from './growth-shares.ts'

const FULL = expect.objectContaining({ code: 'LIMIT_EXCEEDED' })

function setUp() {
  const clock = createManualClock(10 * DAY_MICROS)
  return { clock, shares: createGrowthShares({ bytesPerDay: 1000, clock }) }
}

it('a greedy user has a half of the bytes of the day, and leaves room to ten modest ones', () => {
  const { shares } = setUp()
  for (let count = 0; count < 50; count++) shares.take('greedy', 10)
  expect(() => shares.take('greedy', 10)).toThrow(FULL)
  for (let user = 0; user < 10; user++) shares.take(`modest ${user}`, 20)
  expect(() => shares.take('greedy', 1)).toThrow(FULL)
})

it('what adds nothing is never refused, and what had no effect gives its bytes back', () => {
  const { shares } = setUp()
  const giveBack = shares.take('alice', 500)
  const giveBackOther = shares.take('bob', 100)
  // It has more than the others have left to it.
  for (const bytes of [0, -100]) shares.take('alice', bytes)
  expect(() => shares.take('alice', 1)).toThrow(FULL)
  giveBackOther()
  giveBack()
  shares.take('alice', 500)
})

it('a day later the user has its share again', async () => {
  const { clock, shares } = setUp()
  const giveBack = shares.take('alice', 500)
  await clock.advance(DAY_MICROS / 1000 - 1)
  expect(() => shares.take('alice', 1)).toThrow(FULL)
  await clock.advance(1)
  shares.take('alice', 500)
  // Of the day before.
  giveBack()
  expect(() => shares.take('alice', 1)).toThrow(FULL)
})
