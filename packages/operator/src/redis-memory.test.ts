import { totalmem } from 'node:os'
import { expect, it } from 'vitest'
import { machineMemoryBytes, redisMemoryBudget } from './redis-memory.ts'

it('is half of what the machine has, unless the operator sets it', () => {
  expect(machineMemoryBytes()).toBeLessThanOrEqual(totalmem())
  for (const text of [undefined, ''])
    expect(redisMemoryBudget(text)).toBe(Math.floor(machineMemoryBytes() / 2))
  expect(redisMemoryBudget('4096')).toBe(2 ** 32)
})

it.each(['63', '0', '-64', '1e3', '64.5', 'all', '1048577', '12345678901'])(
  'refuses %s',
  (text) => {
    expect(() => redisMemoryBudget(text)).toThrow('it must be an integer from 64 to 1048576')
  },
)
