/** The party that a name had when the user last accepted it, so that a change of owner is noticed. */
import type { QuorumscanError } from '../errors.ts'
import type { Kept } from '../platform/kept.ts'
import { tellOthers } from '../platform/others.ts'

/** Default of `seenNamesMax`. A name takes 180 bytes at most, so that all fit into the 5 MB of a `localStorage`. */
const NAMES_MAX = 10_000

/** A name with its party, as it was read at a record time, in µs. */
export type Sighting = { readonly name: string; readonly party: string; readonly atMicros: number }

export interface SeenNames {
  /**
   * What is remembered of each name under another party; null: nothing. With `isKept` new names are remembered.
   *
   * @throws {QuorumscanError} SEEN_NAMES_FULL where they cannot be, as no name is forgotten for another one.
   */
  compare(read: readonly Sighting[], isKept: boolean): Promise<(Sighting | null)[]>
  /** From now on the name belongs to the party. Throws as `compare`. */
  accept(read: Sighting): Promise<void>
}

/** How many names are remembered. */
export type SeenNamesLimit = {
  /** Default 10 000. With 0 no name is remembered. */
  readonly seenNamesMax?: number | undefined
  /** What is thrown for a name beyond them. */
  readonly seenNamesFull: (max: number) => Promise<QuorumscanError>
}

/** A store that fails loses the warning, never the lookup: it says nothing about who owns the name. */
export function createSeenNames(
  kept: Kept,
  key: () => Promise<string>,
  limit: SeenNamesLimit,
): SeenNames {
  const { seenNamesMax = NAMES_MAX } = limit
  const seenByName = new Map<string, Sighting>()

  /** What is stored wins: another client of the same store, in another tab for one, may have written it. How many. */
  const take = (text: string | null): number => {
    try {
      const rows = (JSON.parse(text ?? '[]') as unknown[]).filter(isRow)
      for (const [name, party, atMicros] of rows) seenByName.set(name, { name, party, atMicros })
      return rows.length
    } catch {
      return 0 // Unreadable is as good as empty; the next name writes the list again.
    }
  }
  const all = (): string =>
    JSON.stringify(
      [...seenByName.values()].map(({ name, party, atMicros }) => [name, party, atMicros]),
    )
  /** What another tab left out. */
  const join = (text: string | null): string => {
    const stored = take(text)
    return text !== null && stored >= seenByName.size ? text : all()
  }
  const remember = async (sightings: readonly Sighting[], isAccepted: boolean): Promise<void> => {
    const added = sightings.filter(({ name }) => !seenByName.has(name))
    if (seenByName.size + added.length > seenNamesMax) throw await limit.seenNamesFull(seenNamesMax)
    await kept.update(
      await key(),
      (text) => {
        take(text)
        for (const seen of sightings)
          if (isAccepted || !seenByName.has(seen.name)) seenByName.set(seen.name, seen)
        return all()
      },
      join,
    )
  }

  return {
    async compare(read, isKept) {
      if (read.some(({ name, party }) => seenByName.get(name)?.party !== party))
        take(await kept.get(await key()))
      const fresh = read.filter(({ name }) => !seenByName.has(name))
      if (isKept && seenNamesMax > 0 && fresh.length > 0) await remember(fresh, false)
      return read.map(({ name, party }) => {
        const seen = seenByName.get(name)
        return seen === undefined || seen.party === party ? null : seen
      })
    },
    async accept(read) {
      await remember([read], true)
      tellOthers(await key(), read.name)
    },
  }
}

function isRow(value: unknown): value is [string, string, number] {
  return (
    Array.isArray(value) &&
    typeof value[0] === 'string' &&
    typeof value[1] === 'string' &&
    typeof value[2] === 'number'
  )
}
