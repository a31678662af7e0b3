/** Random numbers that depend only on a seed, so that a run can be repeated. */
import { sha256, utf8 } from '@quorumscan/base'

/** All draws of one purpose. */
export type Seeded = {
  /** From 0 to below the bound. */
  below(bound: number): number
  pick<const T>(items: readonly [T, ...T[]]): T
}

/** Each purpose has its own stream, so that a further draw for one changes no other. */
export function seededRandom(seed: string, purpose: string): Seeded {
  let counter = 0
  let block: Uint8Array = new Uint8Array()
  let used = 0
  const nextByte = (): number => {
    if (used === block.byteLength) {
      block = sha256(utf8(`${purpose}\0${seed}\0${counter}`))
      counter += 1
      used = 0
    }
    used += 1
    return block[used - 1] ?? 0
  }
  const below = (bound: number) => {
    const draw = Array.from({ length: 6 }, nextByte).reduce((value, byte) => value * 256 + byte, 0)
    return Math.floor((draw / 2 ** 48) * bound)
  }
  // The list is not empty by its type.
  return { below, pick: (items) => items[below(items.length)] ?? items[0] }
}
