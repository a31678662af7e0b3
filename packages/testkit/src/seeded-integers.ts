import { sha256, toHex, utf8 } from '@quorumscan/base'

/** Integers from 0 and below `bound`, the same for the same seed. */
export function createSeededIntegers(seed: string): (bound: number) => number {
  let count = 0
  return (bound) =>
    Number.parseInt(toHex(sha256(utf8(`${seed} ${count++}`))).slice(0, 12), 16) % bound
}
