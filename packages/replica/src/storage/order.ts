/**
 * The bytes by which members of an index are ordered, between the tag of their key and the contract id. A position in a
 * list is these bytes with the id: it stays valid while contracts of the list are created and archived.
 */
import { concatBytes } from '@quorumscan/base'
import type { Amount, Offset } from '@quorumscan/model'

/** Enough for a million entries per second over eight years. */
export const OFFSET_BYTES = 6
const OFFSET_MAX = 2 ** (8 * OFFSET_BYTES) - 1

/** Orders by offset, the lowest first. */
export function offsetBytes(offset: Offset): Uint8Array {
  const bytes = Buffer.allocUnsafe(OFFSET_BYTES)
  bytes.writeUIntBE(offset, 0, OFFSET_BYTES)
  return bytes
}

/** Orders contracts by the offset that created them, the newest first. */
export function newestFirst(offset: Offset): Uint8Array {
  return offsetBytes(OFFSET_MAX - offset)
}

/** Orders contracts by amount, the largest first. The length comes first, because shorter numbers are smaller. */
export function largestFirst(amount: Amount): Uint8Array {
  const digits = bytesOfSum(amount)
  return concatBytes([Uint8Array.of(digits.byteLength), digits]).map((byte) => 0xff - byte)
}

/** The shortest big-endian bytes of a number ≥ 0. */
export function bytesOfSum(value: Amount): Uint8Array {
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

export function sumOfBytes(bytes: Uint8Array): Amount {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}
