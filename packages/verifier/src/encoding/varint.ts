/** A number of packed bytes, and the position after it. */
export type Varint = { readonly value: number; readonly end: number }

/**
 * The unsigned varint (LEB128: seven bits in each byte, the lowest first) at a position; null if the bytes end before it
 * does.
 *
 * @param bytesMax - Eight for any safe integer.
 * @throws {RangeError} If it is longer than `bytesMax` bytes.
 */
export function readVarint(bytes: Uint8Array, bytesMax: number, start = 0): Varint | null {
  let value = 0
  let factor = 1
  for (let at = start; at < start + bytesMax; at++) {
    const byte = bytes[at]
    if (byte === undefined) return null
    value += (byte & 0x7f) * factor
    if (byte < 0x80) return { value, end: at + 1 }
    factor *= 0x80
  }
  throw new RangeError(`a length or number that does not end within ${bytesMax} bytes`)
}
