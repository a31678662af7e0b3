import { heldSizes } from '@quorumscan/base'
import { createManualClock } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { createRateBudgets } from './budgets.ts'

const rates = { anonymous: 50, peer: 1000, superValidator: 50 }
const TURN_MS = 50
const BYTES_PER_DAY = 86_400_000

function setUp() {
  const clock = createManualClock()
  const budgets = createRateBudgets({
    rates,
    stateBytesPerDay: BYTES_PER_DAY,
    operatorKeys: new Set(['operator']),
    clock,
  })
  /** Whether the client's budget suffices for an entry of this price. */
  const submit = (client: string, units: number, isPeer = false): boolean => {
    try {
      budgets.spend({ client, isPeer }, units)
      return true
    } catch {
      return false
    }
  }
  return { clock, budgets, submit }
}

describe('the budgets of anonymous clients', () => {
  it.each([4, 50])('leave a share to others while %d addresses request all of it', async (n) => {
    const { clock, submit } = setUp()
    const taken = { hostile: 0, honest: 0 }
    // For twenty seconds. Honest clients submit one entry a second, each from a different address.
    for (let ms = 0; ms < 20_000; ms += TURN_MS) {
      for (let index = 0; index < n; index++) if (submit(`hostile ${index}`, 7)) taken.hostile += 7
      if (ms >= 5_000 && ms % 1000 === 500 && submit(`honest ${ms}`, 7)) taken.honest++
      await clock.advance(TURN_MS)
    }
    expect(taken.honest).toBeGreaterThanOrEqual(14) // Of fifteen.
    expect(taken.hostile).toBeGreaterThan(0.8 * 20 * 4 * rates.anonymous)
    expect(taken.hostile).toBeLessThan(21 * 4 * rates.anonymous)
  })

  it('are available to one address again when the others have stopped', async () => {
    const { clock, submit } = setUp()
    for (let index = 0; index < 40; index++) submit(`hostile ${index}`, 1)
    expect(submit('alice', 5)).toBe(true)
    expect(submit('alice', 5)).toBe(false)
    await clock.advance(3_000)
    for (let count = 0; count < rates.anonymous; count++) expect(submit('alice', 1)).toBe(true)
    expect(submit('alice', 1)).toBe(false)
  })

  it('count the clients of a second and those of a day apart', () => {
    const { budgets, submit } = setUp()
    const sizeOf = (span: string) =>
      heldSizes().find(({ name }) => name === `anonymous clients of a ${span}`)?.size ?? 0
    const [second, day] = [sizeOf('second'), sizeOf('day')]
    for (const client of ['alice', 'bob']) submit(client, 1)
    budgets.chargeGrowth({ client: 'alice', isPeer: false }, 1)
    expect([sizeOf('second') - second, sizeOf('day') - day]).toEqual([2, 1])
  })

  it('are separate from the budgets of peers', () => {
    const { submit } = setUp()
    for (let index = 0; index < 1000; index++) submit(`hostile ${index}`, 50)
    expect(submit('hostile 1001', 50)).toBe(false)
    expect(submit('peer 0', 50, true)).toBe(true)
  })

  it('are charged for unknown engines, not for engines of other members', () => {
    const { budgets, submit } = setUp()
    const takeAll = (nodeId: string | null, units: number) => {
      budgets.chargeSender(nodeId, units)
      expect(() => {
        for (let count = 0; count < 2; count++) budgets.chargeSender(nodeId, units)
      }).toThrow('too much work')
    }
    takeAll('sv-2', rates.peer)
    expect([submit('alice', 5), submit('sv-2', 5, true)]).toEqual([true, true])
    takeAll(null, 4 * rates.anonymous)
    expect([submit('bob', 5), submit('sv-2', 5, true)]).toEqual([false, true])
  })
})

describe('the budget of operators', () => {
  it('belongs to an operator key, whichever client submits; other keys have no budget', () => {
    const { budgets } = setUp()
    budgets.spendOfKey('operator', rates.superValidator)
    expect(() => budgets.spendOfKey('operator', 1)).toThrow('too much work')
    for (let count = 0; count < 100; count++) budgets.spendOfKey('key', rates.superValidator)
  })
})

describe('the bytes a day that anonymous clients add to the state', () => {
  const setUpGrowth = () => {
    const { clock, budgets } = setUp()
    /** The bytes of entries of a kilobyte that the client may add now. */
    const fill = (client: string, isPeer = false): number => {
      for (let bytes = 0; bytes < 2 * BYTES_PER_DAY; bytes += 1000)
        try {
          budgets.chargeGrowth({ client, isPeer }, 1000)
        } catch (error) {
          expect(error).toMatchObject({ code: 'RATE_LIMITED' })
          return bytes
        }
      return Number.POSITIVE_INFINITY
    }
    return { clock, fill }
  }

  it('are shared by all, and one address has a quarter of them', () => {
    const { fill } = setUpGrowth()
    const filled = ['a', 'b', 'c', 'd', 'e'].map((client) => fill(client))
    for (const bytes of filled.slice(0, 3)) expect(bytes).toBe(BYTES_PER_DAY / 4 + 1000)
    // The last entry of each is served on credit.
    expect(filled.reduce((sum, bytes) => sum + bytes)).toBe(BYTES_PER_DAY + 1000)
    expect(filled[4]).toBe(0)
  })

  it('return within a day, at an even rate', async () => {
    const { clock, fill } = setUpGrowth()
    fill('a')
    await clock.advance(3_600_000)
    expect(fill('a')).toBeCloseTo(BYTES_PER_DAY / 4 / 24, -4)
  })

  it('are not charged to peers, whose keys the ledger counts', () => {
    expect(setUpGrowth().fill('peer', true)).toBe(Number.POSITIVE_INFINITY)
  })
})
