/** Integers and byte strings one after the other, as the values in Redis are packed. */
import { assert } from '@quorumscan/base'

/** Where a reader stands in packed bytes. */
export type Cursor = { readonly bytes: Uint8Array; position: number }

/** A safe integer ≥ 0 in base 128, lowest digits first; 1 byte below 128, 8 for a record time. */
export function varint(value: number): Uint8Array {
  assert(Number.isSafeInteger(value) && value >= 0, `only safe integers are packed, not ${value}`)
  const digits: number[] = []
  let rest = value
  while (rest >= 128) {
    digits.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  digits.push(rest)
  return Uint8Array.from(digits)
}

export function readVarint(cursor: Cursor): number {
  let value = 0
  let scale = 1
  for (;;) {
    const digit = cursor.bytes[cursor.position++]
    assert(digit !== undefined, 'packed bytes end within an integer')
    if (digit < 128) return value + digit * scale
    value += (digit - 128) * scale
    scale *= 128
  }
}

/** The next `count` bytes, as a view. */
export function readBytes(cursor: Cursor, count: number): Uint8Array {
  const end = cursor.position + count
  assert(end <= cursor.bytes.byteLength, 'packed bytes end within a byte string')
  const bytes = cursor.bytes.subarray(cursor.position, end)
  cursor.position = end
  return bytes
}

export function isAtEnd(cursor: Cursor): boolean {
  return cursor.position >= cursor.bytes.byteLength
}
