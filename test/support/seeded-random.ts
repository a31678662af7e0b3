/** Deterministic random numbers: the same seed yields the same run. */
export type SeededRandom = {
  /** In [0, 1). */
  fraction(): number
  /** An integer from `min` to `max`, both included. */
  integer(min: number, max: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
  /** An independent stream, so that the draws of one part do not change those of others. */
  split(): SeededRandom
}

/** Mulberry32: small, and good enough to schedule faults. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (min: number, max: number): number =>
    min + Math.floor(fraction() * (max - min + 1))
  return {
    fraction,
    integer,
    chance: (probability) => fraction() < probability,
    pick: (items) => items[integer(0, items.length - 1)] as (typeof items)[number],
    split: () => createSeededRandom(integer(0, 2 ** 32 - 1)),
  }
}
