import { formatInstant } from '@quorumscan/verifier'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTime } from './index.ts'

describe('times', () => {
  it.each([
    [0, '1970-01-01T00:00:00.000000Z'],
    [951_782_400_000_000, '2000-02-29T00:00:00.000000Z'],
    [1_741_744_588_974_046, '2025-03-12T01:56:28.974046Z'],
  ])('writes %d as %s', (micros, text) => {
    expect(formatInstant(micros)).toBe(text)
    expect(parseTime(text)).toBe(micros)
  })

  it('agrees with the platform calendar, which the product may not use', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_007_199_254_740 }), (ms) => {
        // biome-ignore lint/style/noRestrictedGlobals: Date is the oracle here.
        const oracle = new Date(ms).toISOString().replace('Z', '000Z')
        return formatInstant(ms * 1000) === oracle && parseTime(oracle) === ms * 1000
      }),
    )
  })

  it.each([
    '2025-02-29T00:00:00Z',
    '2025-13-01T00:00:00Z',
    '2025-01-01T24:00:00Z',
    '2025-01-01T00:00:60Z',
    '2025-01-01T00:00:00',
    '2025-01-01T00:00:00+01:00',
    '1969-12-31T23:59:59Z',
    '9999-12-31T23:59:59Z',
    '2025-1-1T00:00:00Z',
    '',
  ])('refuses %j', (text) => expect(parseTime(text)).toBeUndefined())

  it('truncates to microseconds', () => {
    expect(parseTime('1970-01-01T00:00:00.000001999Z')).toBe(1)
  })
})
