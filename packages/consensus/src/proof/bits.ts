/** Keys of the state tree as strings of bits, most significant bit of the first byte first. */

/** The bit at `index`; 0 behind the end of the key. */
export function bitAt(key: Uint8Array, index: number): 0 | 1 {
  const byte = key[index >> 3] ?? 0
  return ((byte >> (7 - (index & 7))) & 1) as 0 | 1
}

/** The first bit at which two keys part. Neither is a prefix of the other, nor are they equal. */
export function firstDifference(a: Uint8Array, b: Uint8Array): number {
  let index = 0
  while (a[index] === b[index]) index += 1
  return 8 * index + Math.clz32((a[index] ?? 0) ^ (b[index] ?? 0)) - 24
}

/** Byte-wise order; a prefix comes before what it is a prefix of. */
export function compareKeys(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/**
 * Where all keys lie that begin with the first `bit` bits of `key` and then `side`: wholly before `bound`, wholly
 * from `bound` on, or on both sides of it for all that their beginning tells.
 */
export function positionOf(
  keys: { readonly key: Uint8Array; readonly bit: number; readonly side: 0 | 1 },
  bound: Uint8Array,
): 'before' | 'from' | 'both' {
  const { key, bit, side } = keys
  const wholeBytes = Math.min(bit >> 3, bound.length)
  for (let index = 0; index < wholeBytes; index++) {
    const difference = (key[index] ?? 0) - (bound[index] ?? 0)
    if (difference !== 0) return difference < 0 ? 'before' : 'from'
  }
  for (let index = 8 * wholeBytes; index < 8 * bound.length; index++) {
    if (index > bit) return 'both'
    const difference = (index === bit ? side : bitAt(key, index)) - bitAt(bound, index)
    if (difference !== 0) return difference < 0 ? 'before' : 'from'
  }
  return 'from'
}
