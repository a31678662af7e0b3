import { createKeyPair, fromHex, utf8 } from '@quorumscan/base'
import { ENTRY_BYTES_MAX } from '@quorumscan/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BUNDLE_BYTES_MAX,
  BUNDLE_ENTRIES_MAX,
  countThatFits,
  decodeBundle,
  encodeBundle,
  isBundleSigned,
  signBundle,
} from './bundles.ts'

const key = createKeyPair()
const options = { notAfter: 1_700_000_000_000_000, genesisHash: 'ab'.repeat(32), key }
const several = (count: number) => Array.from({ length: count }, (_, index) => utf8(`${index}`))

describe('a bundle', () => {
  it('contains the entries that were put into it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 300 }), {
          minLength: 1,
          maxLength: BUNDLE_ENTRIES_MAX,
        }),
        (entries) => {
          fc.pre(entries[0]?.byteLength !== 0) // An entry has at least one byte.
          for (const bytes of [encodeBundle(entries), signBundle(entries, options)])
            expect(decodeBundle(bytes)?.entries.map((entry) => [...entry])).toEqual(
              entries.map((entry) => [...entry]),
            )
        },
      ),
    )
  })

  it('is at most as large as the engine lets a transaction be', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: ENTRY_BYTES_MAX }), { minLength: 1 }),
        (sizes) => {
          const entries = sizes.map((size) => new Uint8Array(size))
          const count = countThatFits(entries)
          expect(count).toBeGreaterThan(0)
          expect(signBundle(entries.slice(0, count), options).byteLength).toBeLessThanOrEqual(
            BUNDLE_BYTES_MAX,
          )
        },
      ),
      { numRuns: 30 },
    )
    expect(countThatFits(several(BUNDLE_ENTRIES_MAX + 1))).toBe(BUNDLE_ENTRIES_MAX)
    expect(countThatFits([])).toBe(0)
  })

  it('is signed for one network and time, but unsigned with the largest entry', () => {
    const signed = signBundle(several(3), options)
    const { signature } = decodeBundle(signed) ?? {}
    expect(signature).toMatchObject({ publicKey: key.publicKey, notAfter: options.notAfter })
    if (signature == null) throw new Error('no signature')
    expect(isBundleSigned(signature, options.genesisHash)).toBe(true)
    expect(isBundleSigned(signature, 'cd'.repeat(32))).toBe(false)
    for (const at of [1, 33, 104, 106]) {
      const changed = signed.slice()
      changed[at] = (changed[at] ?? 0) ^ 1
      const other = decodeBundle(changed)?.signature ?? null
      expect(other !== null && isBundleSigned(other, options.genesisHash)).toBe(false)
    }
    expect(
      decodeBundle(signBundle([new Uint8Array(ENTRY_BYTES_MAX)], options))?.signature,
    ).toBeNull()
    expect(fromHex(key.publicKey)).toEqual(signed.slice(1, 33))
  })

  it.each([
    ['nothing', new Uint8Array(0)],
    ['a signature without entries', signBundle(several(1), options).subarray(0, 105)],
    ['an entry cut off', encodeBundle([utf8('entry')]).subarray(0, 4)],
    ['a length cut off', Uint8Array.of(0x80)],
    ['one entry too many', encodeBundle(several(BUNDLE_ENTRIES_MAX + 1))],
  ])('of %s is refused', (_, bytes) => {
    expect(decodeBundle(bytes)).toBeNull()
  })
})
