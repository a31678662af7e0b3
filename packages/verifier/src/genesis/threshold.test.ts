import { describe, expect, it } from 'vitest'
import { maxFaulty } from './genesis.ts'
import { parseThreshold, thresholdVotes } from './threshold.ts'

const setOf = (n: number) => ({ n, f: maxFaulty(n) })

describe('a threshold', () => {
  it.each([
    [1, 1, 1, 1],
    [3, 1, 2, 3],
    [4, 2, 3, 4],
    [6, 2, 4, 6],
    [7, 3, 5, 7],
    [13, 5, 9, 13],
  ])('with n = %i is %i, %i or %i', (nodeCount, weak, strong, all) => {
    expect(thresholdVotes('weak', setOf(nodeCount))).toBe(weak)
    expect(thresholdVotes('strong', setOf(nodeCount))).toBe(strong)
    expect(thresholdVotes('all', setOf(nodeCount))).toBe(all)
  })

  it.each(['', '0', '1', '5', '2f+2x', '2.0', '+2', '02', ' 2', 'WEAK', 'most', '-3', '1e1'])(
    'cannot be %j with n = 4',
    (text) => {
      expect(parseThreshold(text, setOf(4))).toBeUndefined()
    },
  )

  it.each([
    ['weak', 'weak'],
    ['strong', 'strong'],
    ['all', 'all'],
    ['2', 2],
    ['4', 4],
  ])('%j is parsed', (text, threshold) => {
    expect(parseThreshold(text, setOf(4))).toBe(threshold)
  })
})
