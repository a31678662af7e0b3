import { describe, expect, it } from 'vitest'
import { isZonedTime, parseZonedTime } from './zoned-time.ts'

describe('instants of clients', () => {
  it.each([
    ['2026-11-30T10:20:30Z', 1_796_034_030_000_000],
    ['2026-11-30t10:20:30z', 1_796_034_030_000_000],
    ['2026-11-30T10:20:30.123456789Z', 1_796_034_030_123_456],
    ['2026-11-30T19:29:30+09:09', 1_796_034_030_000_000],
    ['2026-11-30T10:20:30-00:00', 1_796_034_030_000_000],
    ['1969-12-31T23:00:00-01:00', 0],
  ])('%s is read', (text, micros) => {
    expect(parseZonedTime(text)).toBe(micros)
    expect(isZonedTime(text)).toBe(true)
  })

  it.each([
    '2026-11-30 10:20:30Z',
    '2026-11-30T10:20Z',
    '2026-11-30T10:20:60Z',
    '2026-11-30T10:20:30.1234567890Z',
    '2026-11-30T10:20:30.Z',
    '2026-11-30T10:20:30+0909',
    '2026-11-30T10:20:30+09',
    '2026-11-30T10:20:30+09:60',
    '2026-11-30T10:20:30',
    '2026-11-30T10:20:30Z\n',
  ])('%j is refused', (text) => {
    expect(parseZonedTime(text)).toBeUndefined()
    expect(isZonedTime(text)).toBe(false)
  })
})
