import { utf8 } from '@quorumscan/base'
import { ENTRY_BYTES_MAX } from '@quorumscan/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BUNDLE_BYTES_MAX,
  BUNDLE_ENTRIES_MAX,
  countThatFits,
  decodeBundle,
  encodeBundle,
} from './bundles.ts'

const several = (count: number) => Array.from({ length: count }, (_, index) => utf8(`${index}`))

describe('a bundle', () => {
  it('holds the entries that it was made of', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 300 }), {
          minLength: 1,
          maxLength: BUNDLE_ENTRIES_MAX,
        }),
        (entries) => {
          expect(decodeBundle(encodeBundle(entries))?.map((bytes) => [...bytes])).toEqual(
            entries.map((bytes) => [...bytes]),
          )
        },
      ),
    )
  })

  it('is at most as large as the engine lets a transaction be, whatever waits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: ENTRY_BYTES_MAX }), { minLength: 1 }),
        (sizes) => {
          const entries = sizes.map((size) => new Uint8Array(size))
          const count = countThatFits(entries)
          expect(count).toBeGreaterThan(0)
          expect(encodeBundle(entries.slice(0, count)).byteLength).toBeLessThanOrEqual(
            BUNDLE_BYTES_MAX,
          )
        },
      ),
      { numRuns: 30 },
    )
    expect(countThatFits(several(BUNDLE_ENTRIES_MAX + 1))).toBe(BUNDLE_ENTRIES_MAX)
    expect(countThatFits([])).toBe(0)
  })

  it.each([
    ['nothing', new Uint8Array(0)],
    ['an entry cut off', encodeBundle([utf8('entry')]).subarray(0, 4)],
    ['a length cut off', Uint8Array.of(0x80)],
    ['one entry too many', encodeBundle(several(BUNDLE_ENTRIES_MAX + 1))],
  ])('of %s is none', (_, bytes) => {
    expect(decodeBundle(bytes)).toBeNull()
  })
})
