import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bodiesEqual } from './bodies-equal.ts'
import { bytesEqual, fromHex, toHex } from './bytes.ts'

it.each([bytesEqual, bodiesEqual])(
  'bytes are equal exactly where every one is, whatever their alignment: %o',
  (areEqual) => {
    const bytes = fc.uint8Array({ maxLength: 40 })
    fc.assert(
      fc.property(bytes, fc.nat(7), fc.nat(7), fc.nat(39), (content, left, right, position) => {
        const at = (offset: number) => {
          const copy = new Uint8Array(content.length + offset).subarray(offset)
          copy.set(content)
          return copy
        }
        expect(areEqual(at(left), at(right))).toBe(true)
        const other = at(right)
        if (position < other.length) {
          other[position] = (other[position] as number) ^ 1
          expect(areEqual(at(left), other)).toBe(false)
        }
        expect(areEqual(at(left), at(right).subarray(1))).toBe(content.length === 0)
      }),
    )
  },
)

it('hex is lower-case, of even length, and Node reads the same bytes from it', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const hex = toHex(bytes)
      expect(hex).toBe(Buffer.from(bytes).toString('hex'))
      expect(fromHex(hex)).toEqual(bytes)
    }),
  )
  for (const bad of ['0', 'AB', 'xy', '0x00']) expect(() => fromHex(bad), bad).toThrow(RangeError)
})
