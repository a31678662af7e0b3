/**
 * The hashes of the state tree: a binary Patricia trie over the bits of its keys, with one inner node for each
 * bit at which keys part. So its shape, and its root, is a function of the set of leaves alone.
 */
import { fromUtf8Lossily, utf8 } from '../encoding/bytes.ts'

/** SHA-256, at once: a tree is hashed in many small pieces, for which awaiting each costs more than the hash. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

export type Leaf = {
  /** As `keyOf` makes it. */
  readonly key: Uint8Array
  /** Record time from which it is not visible any more, in µs; null: never. */
  readonly expiresAt: number | null
  /** SHA-256 of the value's bytes. */
  readonly valueHash: Uint8Array
}

export const HASH_BYTES = 32
/** The longest key: a party of 255 bytes, a name of 60, a contract id of 66. Also bounds how deep a tree can be. */
export const KEY_BYTES_MAX = 400
/** The greatest number of inner nodes above a leaf: one for each bit of a key. */
export const DEPTH_MAX = 8 * KEY_BYTES_MAX
/** The root of the tree without leaves. */
export const EMPTY_ROOT: Uint8Array = new Uint8Array(HASH_BYTES)

const LEAF_TAG = 0
const INNER_TAG = 1
const NEVER = 2n ** 64n - 1n

/**
 * The key of these components: each ends with a zero byte and holds none, so no key is a prefix of another.
 *
 * @throws {RangeError} If a component holds U+0000, or the key is longer than `KEY_BYTES_MAX`.
 */
export function keyOf(components: readonly string[]): Uint8Array {
  if (components.some((component) => component.includes('\0')))
    throw new RangeError('a key holds no U+0000')
  const key = utf8(components.map((component) => `${component}\0`).join(''))
  if (key.length > KEY_BYTES_MAX) throw new RangeError(`a key has at most ${KEY_BYTES_MAX} bytes`)
  return key
}

/** The components of a key. */
export function componentsOf(key: Uint8Array): readonly string[] {
  return fromUtf8Lossily(key).split('\0').slice(0, -1)
}

// Buffers for what is hashed: new arrays of this size are expensive, and a tree has many nodes.
const leafBytes = new Uint8Array(11 + KEY_BYTES_MAX + HASH_BYTES)
const leafView = new DataView(leafBytes.buffer)
const innerBytes = new Uint8Array(3 + 2 * HASH_BYTES)

/** SHA-256(00 ‖ u16 key length ‖ key ‖ u64 expiry in µs ‖ SHA-256(value)). */
export function hashLeaf({ key, expiresAt, valueHash }: Leaf, sha256: Sha256): Uint8Array {
  leafView.setUint8(0, LEAF_TAG)
  leafView.setUint16(1, key.length)
  leafBytes.set(key, 3)
  leafView.setBigUint64(3 + key.length, expiresAt === null ? NEVER : BigInt(expiresAt))
  leafBytes.set(valueHash, 11 + key.length)
  return sha256(leafBytes.subarray(0, 11 + key.length + HASH_BYTES))
}

/** SHA-256(01 ‖ u16 bit index ‖ left ‖ right); left are the keys whose bit is 0. */
export function hashInner(
  { bit, left, right }: { bit: number; left: Uint8Array; right: Uint8Array },
  sha256: Sha256,
): Uint8Array {
  innerBytes[0] = INNER_TAG
  innerBytes[1] = bit >> 8
  innerBytes[2] = bit & 255
  innerBytes.set(left, 3)
  innerBytes.set(right, 3 + HASH_BYTES)
  return sha256(innerBytes)
}
