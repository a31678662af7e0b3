import { cases, createManualClock } from '@quorumscan/testkit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createRateBudget } from './token-buckets.ts'

it('a client gets at most the units of one second at once, and then the rate, in any pattern', {
  tags: ['properties'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ waitMs: fc.nat(500), units: fc.integer({ min: 1, max: 5 }) })),
      async (steps) => {
        const clock = createManualClock()
        const budget = createRateBudget({ unitsPerSecond: 10, clock })
        let spent = 0
        for (const step of steps) {
          await clock.advance(step.waitMs)
          try {
            budget.spend('a', step.units)
            spent += step.units
          } catch {
            // Refused: that is what is measured.
          }
          expect(spent).toBeLessThanOrEqual(10 + (clock.monotonicMs() / 1000) * 10 + 1e-6)
        }
      },
    ),
    { numRuns: cases(30, 100) },
  )
})

it('clients do not spend each other’s units', () => {
  const budget = createRateBudget({ unitsPerSecond: 1, clock: createManualClock() })
  budget.spend('a', 1)
  expect(() => budget.spend('a', 1)).toThrow()
  expect(() => budget.spend('b', 1)).not.toThrow()
})

it('the client that was quiet longest is forgotten when there are too many', () => {
  const budget = createRateBudget({ unitsPerSecond: 1, clock: createManualClock(), bucketsMax: 2 })
  budget.spend('a', 1)
  budget.spend('b', 1)
  expect(() => budget.spend('b', 1)).toThrow() // A known client evicts no bucket.
  expect(() => budget.spend('a', 1)).toThrow() // a is the latest again.
  budget.spend('c', 1) // b is forgotten.
  expect(() => budget.spend('a', 1)).toThrow()
  expect(() => budget.spend('b', 1)).not.toThrow()
})

it('work that was done is always taken, and its debt is paid before the next request', async () => {
  const clock = createManualClock()
  const budget = createRateBudget({ unitsPerSecond: 10, clock })
  budget.settle('a', 30)
  budget.settle('a', 10)
  expect(() => budget.spend('a', 1)).toThrow()
  await clock.advance(3_000)
  expect(() => budget.spend('a', 1)).toThrow()
  await clock.advance(1_000)
  budget.spend('a', 1)
})

it('of requests admitted at the same time, one is served on credit, not all', () => {
  const budget = createRateBudget({ unitsPerSecond: 10, clock: createManualClock() })
  budget.spend('a', 1)
  budget.spend('a', 1)
  budget.charge('a', 255)
  expect(() => budget.charge('a', 255)).toThrow()
})
