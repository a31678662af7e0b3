/** Remembers the party of each name when the user last accepted it, to detect a change of owner. */
import type { QuorumscanError } from '../errors.ts'
import type { broadcast } from '../platform/page.ts'
import type { SharedStore } from '../platform/shared-store.ts'

/** Default of `seenNamesMax`. A name takes 180 bytes at most, so that all fit into the 5 MB of a `localStorage`. */
const NAMES_MAX = 10_000

/** A name with its party, as read at a record time in µs. */
export type Sighting = { readonly name: string; readonly party: string; readonly atMicros: number }

export type SeenNames = ReturnType<typeof createSeenNames>

/** If the store fails, the warning is lost, and the lookup still succeeds. */
export function createSeenNames(
  shared: SharedStore,
  key: () => Promise<string>,
  limit: {
    /** Default 10 000. With 0 no name is remembered. */
    readonly seenNamesMax?: number | undefined
    /** Loads the error for one name too many, and the message to other tabs. */
    readonly extras: () => Promise<{
      seenNamesFull(max: number): QuorumscanError
      readonly broadcast: typeof broadcast
    }>
  },
) {
  const { seenNamesMax = NAMES_MAX } = limit
  const seenByName = new Map<string, Sighting>()

  /** Reads the stored list, which wins, since another client of the store may have written it. Returns its length. */
  const restore = (text: string | null): number => {
    try {
      const rows = (JSON.parse(text ?? '[]') as unknown[]).filter(isRow)
      for (const [name, party, atMicros] of rows) seenByName.set(name, { name, party, atMicros })
      return rows.length
    } catch {
      return 0 // An unreadable list counts as empty. The next name replaces it.
    }
  }
  const all = (): string =>
    JSON.stringify(
      [...seenByName.values()].map(({ name, party, atMicros }) => [name, party, atMicros]),
    )
  /** Adds what another tab has left out. */
  const join = (text: string | null): string => {
    const stored = restore(text)
    return text !== null && stored >= seenByName.size ? text : all()
  }
  const remember = async (sightings: readonly Sighting[], isAccepted: boolean): Promise<void> => {
    const added = sightings.filter(({ name }) => !seenByName.has(name))
    if (seenByName.size + added.length > seenNamesMax)
      throw (await limit.extras()).seenNamesFull(seenNamesMax)
    await shared.update(
      await key(),
      (text) => {
        restore(text)
        for (const seen of sightings)
          if (isAccepted || !seenByName.has(seen.name)) seenByName.set(seen.name, seen)
        return all()
      },
      join,
    )
  }

  return {
    /**
     * What is remembered of each name under another party; null: nothing. With `isRemembered` new names are added.
     *
     * @throws {QuorumscanError} SEEN_NAMES_FULL if they cannot be: no name is forgotten for another one.
     */
    async compare(read: readonly Sighting[], isRemembered: boolean): Promise<(Sighting | null)[]> {
      if (read.some(({ name, party }) => seenByName.get(name)?.party !== party))
        restore(await shared.get(await key()))
      const fresh = read.filter(({ name }) => !seenByName.has(name))
      if (isRemembered && seenNamesMax > 0 && fresh.length > 0) await remember(fresh, false)
      return read.map(({ name, party }) => {
        const seen = seenByName.get(name)
        return seen === undefined || seen.party === party ? null : seen
      })
    },
    /** Records the party as the accepted owner of the name. Throws as `compare`. */
    async accept(read: Sighting): Promise<void> {
      await remember([read], true)
      const { broadcast } = await limit.extras()
      broadcast(await key(), read.name)
    },
  }
}

function isRow(value: unknown): value is [string, string, number] {
  const [name, party, atMicros] = Array.isArray(value) ? value : []
  return typeof name === 'string' && typeof party === 'string' && typeof atMicros === 'number'
}
