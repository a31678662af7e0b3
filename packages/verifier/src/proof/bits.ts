/** Keys of the state tree as strings of bits, most significant bit of the first byte first. */

/** The bit at `index`; 0 after the end of the key. */
export function bitAt(key: Uint8Array, index: number): 0 | 1 {
  const byte = key[index >> 3] ?? 0
  return ((byte >> (7 - (index & 7))) & 1) as 0 | 1
}

/** The first bit at which two keys differ. If one is a prefix of the other, the first bit after it. */
export function firstDifference(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  let index = 0
  while (index < length && a[index] === b[index]) index += 1
  const isPrefix = index === length
  return 8 * index + (isPrefix ? 0 : Math.clz32((a[index] ?? 0) ^ (b[index] ?? 0)) - 24)
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
 * Compares all keys that share the first `bit` bits of `key`, followed by `side`, with `bound`: all are before it, all
 * are at or after it, or those bits do not decide it (`both`).
 *
 * @param keys.differsAt - `firstDifference` of the key and the bound.
 */
export function positionOf(
  keys: {
    readonly key: Uint8Array
    readonly differsAt: number
    readonly bit: number
    readonly side: 0 | 1
  },
  bound: Uint8Array,
): 'before' | 'from' | 'both' {
  const { key, differsAt, bit, side } = keys
  const difference =
    differsAt < bit ? bitAt(key, differsAt) - bitAt(bound, differsAt) : side - bitAt(bound, bit)
  if (difference < 0) return 'before'
  const isSettled = difference > 0 || differsAt < bit || bit + 1 >= 8 * bound.length
  return isSettled ? 'from' : 'both'
}
