/** From a party to its name and back again: a reverse answer counts only if the name leads to the party. */
import type { Decided, Outcome, ReadOptions } from '../votes/outcome.ts'
import { isDecided } from '../votes/outcome.ts'
import type { Reader } from './reader-options.ts'

export type ReverseLookup = {
  /** The lookup by party. */
  readonly outcome: Outcome
  /** The lookup of the name that it gave, at the same offset or a later one; null where it gave none. */
  readonly forward: Outcome | null
  /** True: both are decided, and the name belongs to the party. Show the name only then. */
  readonly match: boolean
}

/**
 * Looks a party up and checks the name forward.
 *
 * Between the two reads the name may have lapsed or changed hands; then there is no match, rightly.
 *
 * @throws As `Reader.lookup`.
 */
export async function reverseLookup(
  reader: Pick<Reader, 'lookup'>,
  party: string,
  options: ReadOptions = {},
): Promise<ReverseLookup> {
  const [outcome] = (await reader.lookup([{ party }], options)) as [Outcome]
  const entry = isDecided(outcome) ? entryOf(outcome) : null
  if (entry === null || !isDecided(outcome)) return { outcome, forward: null, match: false }
  const [forward] = (await reader.lookup([{ name: entry.name }], {
    ...options,
    minOffset: Math.max(outcome.offset, options.minOffset ?? 0),
  })) as [Outcome]
  const back = isDecided(forward) ? entryOf(forward) : null
  return { outcome, forward, match: back?.user === party && back.name === entry.name }
}

function entryOf({ answer }: Decided): { readonly name: string; readonly user: string } | null {
  // The reader checked the shape of what the nodes agreed on.
  const { entry } = JSON.parse(new TextDecoder().decode(answer)) as {
    entry: { name: string; user: string } | null
  }
  return entry
}
