import { expect, it } from 'vitest'
import { createFairTime, until, untilTrue } from './until.ts'

it('time passes as much more slowly as the machine is busy, within bounds', () => {
  let [realMs, slowness] = [1000, 1]
  const fairMs = createFairTime(
    () => realMs,
    () => slowness,
  )
  const afterMs = (ms: number) => {
    realMs += ms
    return fairMs()
  }
  expect(afterMs(100)).toBe(100)
  slowness = 4
  expect(afterMs(100)).toBe(125)
  slowness = 1_000_000
  expect(afterMs(2000)).toBe(225)
})

it('a condition that never comes fails by its name', async () => {
  const never = until('the moon', () => undefined, { timeoutMs: 1 })
  await expect(never).rejects.toThrow(/waiting for the moon/)
  let asked = 0
  await untilTrue('the third time', () => ++asked === 3)
  expect(asked).toBe(3)
})
