import { maxFaulty } from '@quorumscan/verifier'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseNextPin, choosePin } from './offset.ts'

describe('the pin', () => {
  it('is the t-th largest head, never below the floor', () => {
    const heads = [7, 10, 3, 10]
    expect(choosePin(heads, { threshold: 1, floor: 0 })).toBe(10)
    expect(choosePin(heads, { threshold: 3, floor: 0 })).toBe(7)
    expect(choosePin(heads, { threshold: 3, floor: 8 })).toBe(8)
    expect(choosePin(heads, { threshold: 5, floor: 8 })).toBeNull()
    expect(heads).toEqual([7, 10, 3, 10])
  })

  it('lies between the t-th and the (t−f)-th most advanced honest node, for any claims of f liars', () => {
    const world = fc.integer({ min: 1, max: 13 }).chain((nodeCount) =>
      fc.record({
        threshold: fc.integer({ min: maxFaulty(nodeCount) + 1, max: nodeCount }),
        honest: fc.array(fc.nat(1000), {
          minLength: nodeCount - maxFaulty(nodeCount),
          maxLength: nodeCount - maxFaulty(nodeCount),
        }),
        claims: fc.array(fc.maxSafeNat(), {
          minLength: maxFaulty(nodeCount),
          maxLength: maxFaulty(nodeCount),
        }),
      }),
    )
    fc.assert(
      fc.property(world, ({ threshold, honest, claims }) => {
        const pin = choosePin([...claims, ...honest], { threshold, floor: 0 }) as number
        const advanced = [...honest].sort((a, b) => b - a)
        expect(pin).toBeGreaterThanOrEqual(advanced[threshold - 1] ?? 0)
        expect(pin).toBeLessThanOrEqual(advanced[threshold - claims.length - 1] as number)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('the second pin', () => {
  const input = {
    laggingHeads: [8, 6],
    answeredHeads: [10, 8, 6],
    threshold: 2,
    faultyMax: 0,
    floor: 0,
  }

  it('is low enough that lagging nodes complete the largest group', () => {
    expect(chooseNextPin({ ...input, largestGroupSize: 1 })).toBe(8)
    expect(chooseNextPin({ ...input, largestGroupSize: 0 })).toBe(6)
    expect(chooseNextPin({ ...input, largestGroupSize: 1, floor: 9 })).toBe(9)
  })

  it('is lower if lagging nodes may lie, as far as others exist', () => {
    const lying = { ...input, laggingHeads: [9, 8, 6], largestGroupSize: 1, faultyMax: 1 }
    expect(chooseNextPin(lying)).toBe(8)
    expect(chooseNextPin({ ...lying, laggingHeads: [8] })).toBe(8)
    expect(chooseNextPin({ ...lying, faultyMax: 4 })).toBe(6)
  })

  it('falls back to all nodes that answered, and is null if they are too few', () => {
    const none = { ...input, laggingHeads: [] }
    expect(chooseNextPin({ ...none, largestGroupSize: 1 })).toBe(8)
    expect(chooseNextPin({ ...none, largestGroupSize: 1, threshold: 4 })).toBeNull()
  })
})
