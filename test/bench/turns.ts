/**
 * Several things measured in turn, in short slices: a machine gives now more and now less, for seconds at a time,
 * and both sides of a ratio shall get the same of it.
 */
import { median } from './report.ts'

/** Turns that are not counted: connections open, code is compiled. */
const WARM_UP_TURNS = 3

/** Slices of each side; those at one place are of one turn. */
export type Turns<Side extends string, Slice> = Readonly<Record<Side, readonly Slice[]>>

/** Takes a slice of each side so many times, every second time in the opposite order. */
export async function inTurn<Side extends string, Slice>(
  turnCount: number,
  sides: Readonly<Record<Side, () => Promise<Slice>>>,
): Promise<Turns<Side, Slice>> {
  const names = Object.keys(sides) as Side[] // Those of the record.
  const slices = {} as Record<Side, Slice[]>
  for (const name of names) slices[name] = []
  for (let turn = -WARM_UP_TURNS; turn < turnCount; turn++)
    for (const name of turn % 2 === 0 ? names : names.toReversed()) {
      const slice = await sides[name]()
      if (turn >= 0) slices[name].push(slice)
    }
  return slices
}

/** The median of what one side gave ÷ what another did in the same turn. */
export function ratioOf<Slice>(
  over: readonly Slice[],
  under: readonly Slice[],
  of: (slice: Slice) => number,
): number {
  return median(over.map((slice, turn) => of(slice) / of(under[turn] as Slice))) // As many turns.
}
