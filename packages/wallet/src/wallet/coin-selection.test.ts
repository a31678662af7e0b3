import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INPUTS_MAX, selectCoins } from './spending.ts'

const coin = (contractId: string, amount: bigint) => ({ contractId, amount })

/** Of a party with these coins. */
function select(all: readonly ReturnType<typeof coin>[], needed: bigint) {
  const coins = all.toSorted((a, b) => Number(b.amount - a.amount)).slice(0, INPUTS_MAX)
  return selectCoins(
    { coins, available: all.reduce((sum, { amount }) => sum + amount, 0n) },
    needed,
  )
}

describe('selectCoins', () => {
  it('takes the largest coins, and no more than are needed', () => {
    const coins = [coin('a', 1n), coin('b', 50n), coin('c', 30n), coin('d', 30n)]
    expect(select(coins, 50n)).toEqual(['b'])
    expect(select(coins, 51n)).toEqual(['b', 'c'])
    expect(select(coins, 111n)).toEqual(['b', 'c', 'd', 'a'])
  })

  it('names the missing amount', () => {
    expect(() => select([coin('a', 10_000_000_000n)], 20_000_000_001n)).toThrow(
      expect.objectContaining({
        code: 'INSUFFICIENT_FUNDS',
        details: { needed: '2.0000000001', available: '1.0000000000' },
      }),
    )
    expect(() => select([], 1n)).toThrow(expect.objectContaining({ code: 'INSUFFICIENT_FUNDS' }))
  })

  it('reports when only the number of coins is too large', () => {
    const coins = Array.from({ length: INPUTS_MAX + 1 }, (_, index) => coin(`c${index}`, 1n))
    expect(select(coins, BigInt(INPUTS_MAX))).toHaveLength(INPUTS_MAX)
    expect(() => select(coins, BigInt(INPUTS_MAX + 1))).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED' }),
    )
  })

  it('covers the amount with different coins, each of which is needed', () => {
    const coins = fc
      .array(fc.bigInt({ min: 1n, max: 1000n }), { minLength: 1, maxLength: INPUTS_MAX })
      .map((amounts) => amounts.map((amount, index) => coin(`c${index}`, amount)))
    fc.assert(
      fc.property(coins, fc.nat({ max: 1_000_000 }), (list, part) => {
        const total = list.reduce((sum, one) => sum + one.amount, 0n)
        const needed = (total * BigInt(part)) / 1_000_000n
        const inputs = select(list, needed)
        const amounts = inputs.map((id) => list.find((one) => one.contractId === id)?.amount ?? 0n)
        const covered = amounts.reduce((sum, amount) => sum + amount, 0n)
        expect(new Set(inputs).size).toBe(inputs.length)
        expect(covered).toBeGreaterThanOrEqual(needed)
        for (const amount of amounts) expect(covered - amount).toBeLessThan(needed)
      }),
    )
  })
})
