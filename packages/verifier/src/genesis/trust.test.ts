import { describe, expect, it } from 'vitest'
import { maxFaulty, quorumOf } from './genesis.ts'
import { parseThreshold, thresholdVotes } from './threshold.ts'
import { isTrusted } from './trust.ts'
import { trustRule } from './trust-rule.ts'

const names = (count: number) => Array.from({ length: count }, (_, index) => `sv-${index + 1}`)
const ALL = names(7)

describe('a trust rule', () => {
  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [5, 2],
    [6, 3],
    [13, 5],
  ])('of %i members needs %i by default', (count, threshold) => {
    expect(trustRule({ members: names(count) }).threshold).toBe(threshold)
  })

  it('has its members in the order of the network, and a copy of the list', () => {
    const members = ['sv-3', 'sv-1']
    const rule = trustRule({ members, threshold: 2 }, ALL)
    members.push('sv-2')
    expect(rule).toEqual({ members: ['sv-1', 'sv-3'], threshold: 2 })
    expect(ALL.filter((name) => isTrusted(rule, name))).toEqual(['sv-1', 'sv-3'])
    expect(ALL.every((name) => isTrusted(null, name))).toBe(true)
  })

  it.each<[string, unknown, string]>([
    [
      'an unknown member',
      { members: ['sv-8'] },
      'sv-8 is not a member of the network, which has sv-1,',
    ],
    ['a duplicate', { members: ['sv-1', 'sv-2', 'sv-1'] }, 'sv-1 twice'],
    ['no members', { members: [] }, 'one at least'],
    ['members that are no list', { members: 'sv-1' }, 'one at least'],
    ['a member that is no text', { members: [1] }, 'one at least'],
    ['a member without a name', { members: ['sv-1', ''] }, 'one at least'],
    ['a misspelt threshold', { members: ['sv-1', 'sv-2'], thresholds: 2 }, 'no thresholds'],
    ['a threshold of 0', { members: ['sv-1'], threshold: 0 }, 'from 1 to 1'],
    ['a threshold above the length', { members: ['sv-1'], threshold: 2 }, 'from 1 to 1'],
    ['a threshold that is no number', { members: ['sv-1'], threshold: '1' }, 'from 1 to 1'],
    ['nothing', undefined, 'one at least'],
  ])('is refused for %s', (_, trust, why) => {
    expect(() => trustRule(trust as never, ALL)).toThrow(RangeError)
    expect(() => trustRule(trust as never, ALL)).toThrow(why)
  })
})

const setOf = (n: number) => ({ n, f: maxFaulty(n) })

describe('the thresholds of a trust rule', () => {
  it('are its own threshold, and up to all of its members', () => {
    const rule = trustRule({ members: names(5), threshold: 2 }, ALL)
    expect(thresholdVotes('weak', setOf(7), rule)).toBe(2)
    expect(thresholdVotes('strong', setOf(7), rule)).toBe(4)
    expect(thresholdVotes('all', setOf(7), rule)).toBe(5)
    expect([1, 2, 5, 6].map((votes) => thresholdVotes(votes, setOf(7), rule))).toEqual([
      undefined,
      2,
      5,
      undefined,
    ])
    expect([parseThreshold('2', setOf(7), rule), parseThreshold('6', setOf(7), rule)]).toEqual([
      2,
      undefined,
    ])
  })

  it('are those of the network if all members are trusted with f + 1', () => {
    for (let count = 1; count <= 20; count++) {
      const rule = trustRule({ members: names(count), threshold: maxFaulty(count) + 1 })
      expect(thresholdVotes('strong', setOf(count), rule)).toBe(quorumOf(count))
      expect(thresholdVotes('weak', setOf(count), rule)).toBe(thresholdVotes('weak', setOf(count)))
    }
  })
})
