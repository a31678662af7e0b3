/** How instants are written, in whichever order they come. */

import { parseTime } from '@quorumscan/model'
import { formatInstant } from '@quorumscan/verifier'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatLedgerInstant } from './instants.ts'

it('the fraction has 0, 3 or 6 digits, as few as needed', () => {
  const written = [0, 1, 1_000, 999_000, 999_999, 1_000_000, 1_763_700_000_120_000, 0].map(
    formatLedgerInstant,
  )
  expect(written).toEqual([
    '1970-01-01T00:00:00Z',
    '1970-01-01T00:00:00.000001Z',
    '1970-01-01T00:00:00.001Z',
    '1970-01-01T00:00:00.999Z',
    '1970-01-01T00:00:00.999999Z',
    '1970-01-01T00:00:01Z',
    '2025-11-21T04:40:00.120Z',
    '1970-01-01T00:00:00Z',
  ])
})

it('an instant has the same text after any other instant', () => {
  const near = fc
    .integer({ min: 0, max: 3_000_000 })
    .map((micros) => 1_763_700_000_000_000 + micros)
  fc.assert(
    fc.property(fc.array(near), (instants) => {
      for (const micros of instants) {
        const shown = formatLedgerInstant(micros)
        expect(parseTime(shown)).toBe(micros)
        expect(formatInstant(micros).startsWith(shown.slice(0, -1))).toBe(true)
      }
    }),
  )
})
