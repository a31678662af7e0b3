/** Random numbers that depend only on a seed, so that a run can be repeated. */
import { type Random, sha256, utf8 } from '@quorumscan/base'

/** All draws of one purpose. */
export type Seeded = Random & {
  /** From 0 to below the bound. */
  below(bound: number): number
  pick<const T>(items: readonly [T, ...T[]]): T
}

/** Each purpose has its own stream, so that a further draw for one changes no other. */
export function seededRandom(seed: string, purpose: string): Seeded {
  let counter = 0
  let block: Uint8Array = new Uint8Array()
  let used = 0
  const bytes = (count: number): Uint8Array => {
    const out = new Uint8Array(count)
    for (let index = 0; index < count; index++) {
      if (used === block.byteLength) {
        block = sha256(utf8(`${purpose}\0${seed}\0${counter}`))
        counter += 1
        used = 0
      }
      out[index] = block[used] ?? 0
      used += 1
    }
    return out
  }
  const fraction = () => bytes(6).reduce((value, byte) => value * 256 + byte, 0) / 2 ** 48
  const below = (bound: number) => Math.floor(fraction() * bound)
  return {
    bytes,
    fraction,
    below,
    // The list is not empty by its type.
    pick: (items) => items[below(items.length)] ?? items[0],
  }
}
