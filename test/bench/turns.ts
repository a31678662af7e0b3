/**
 * Measures several sides in turn, in short slices. The speed of a machine varies for seconds at a time, and both sides
 * of a ratio must see the same speed.
 */

/** Warm-up turns, at most as many as turns: connections open, and code is compiled. */
const WARM_UP_TURNS = 3

/** Slices of each side, by turn. */
export type Turns<Side extends string, Slice> = Readonly<Record<Side, readonly Slice[]>>

/** Takes `turnCount` slices of each side, every second time in the opposite order. */
export async function inTurn<Side extends string, Slice>(
  turnCount: number,
  sides: Readonly<Record<Side, () => Promise<Slice>>>,
  warmUpTurns = Math.min(WARM_UP_TURNS, turnCount),
): Promise<Turns<Side, Slice>> {
  const names = Object.keys(sides) as Side[]
  const slices = {} as Record<Side, Slice[]>
  for (const name of names) slices[name] = []
  for (let turn = -warmUpTurns; turn < turnCount; turn++)
    for (const name of turn % 2 === 0 ? names : names.toReversed()) {
      const slice = await sides[name]()
      if (turn >= 0) slices[name].push(slice)
    }
  return slices
}

/** The ratio of two sides in each turn. */
export function ratiosOf<Slice>(
  over: readonly Slice[],
  under: readonly Slice[],
  of: (slice: Slice) => number,
): number[] {
  return over.map((slice, turn) => of(slice) / of(under[turn] as Slice)) // Equal number of turns.
}
