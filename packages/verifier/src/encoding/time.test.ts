import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatInstant, parseInstant } from './time.ts'

describe('instants', () => {
  it('are read back as they were written', () => {
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), (micros) => {
        expect(parseInstant(formatInstant(micros))).toBe(micros)
      }),
    )
    expect(formatInstant(1_709_251_199_999_999)).toBe('2024-02-29T23:59:59.999999Z')
  })

  it.each([
    '',
    '2023-02-29T00:00:00.000000Z',
    '2024-13-01T00:00:00.000000Z',
    '2024-00-01T00:00:00.000000Z',
    '2024-01-00T00:00:00.000000Z',
    '2024-01-32T00:00:00.000000Z',
    '2024-01-01T24:00:00.000000Z',
    '2024-01-01T00:60:00.000000Z',
    '2024-01-01T00:00:60.000000Z',
    '2024-01-01T00:00:00Z',
    '2024-01-01T00:00:00.000Z',
    '2024-01-01T00:00:00.000000+00:00',
    '2024-01-01 00:00:00.000000Z',
    '1969-12-31T23:59:59.999999Z',
    '9999-01-01T00:00:00.000000Z',
  ])('%s is not an instant', (text) => {
    expect(parseInstant(text)).toBeUndefined()
  })
})
