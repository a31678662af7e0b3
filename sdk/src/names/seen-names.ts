/** Remembers the party of each name when the user last accepted it, to detect a change of owner. */
import type { QuorumscanError } from '../errors.ts'
import type { announceAccepted } from '../platform/page-events.ts'
import { parseJson } from '../platform/parse-json.ts'
import type { Party } from '../platform/party.ts'
import type { SharedStore } from '../platform/shared-values.ts'

/** Default of `seenNamesMax`. A name takes 180 bytes at most, so that all fit into the 5 MB of a `localStorage`. */
const NAMES_MAX = 10_000

/** A name with its party, as read at a record time in µs. */
export type Sighting = { readonly name: string; readonly party: Party; readonly atMicros: number }

/**
 * A stored name. Earlier versions of the SDK stored any text that was accepted as its owner: each owner that is read then is
 * another one, until the user accepts it.
 */
export type SeenName = Omit<Sighting, 'party'> & { readonly party: string }

export type SeenNames = ReturnType<typeof createSeenNames>

/** Without the stored names no change of owner can be detected: a lookup fails if they cannot be read or stored. */
export function createSeenNames(
  shared: SharedStore,
  key: () => Promise<string>,
  limit: {
    /** Default 10 000. With 0 no name is remembered. */
    readonly seenNamesMax?: number | undefined
    /** Loads the error for one name too many, and the message to other tabs. */
    readonly extras: () => Promise<{
      seenNamesFull(max: number): QuorumscanError
      readonly announceAccepted: typeof announceAccepted
    }>
  },
) {
  const { seenNamesMax = NAMES_MAX } = limit
  const seenByName = new Map<string, SeenName>()

  /** The stored list wins, since another client of the store may have written it. Returns its length. */
  const restore = (text: string | null): number => {
    const rows = parseRows(text)
    for (const [name, party, atMicros] of rows) seenByName.set(name, { name, party, atMicros })
    return rows.length
  }
  const format = (names: ReadonlyMap<string, SeenName>): string =>
    JSON.stringify([...names.values()].map(({ name, party, atMicros }) => [name, party, atMicros]))
  /** Adds what another tab has left out. */
  const join = (text: string | null): string => {
    const stored = restore(text)
    return text !== null && stored >= seenByName.size ? text : format(seenByName)
  }
  const remember = async (sightings: readonly Sighting[], isAccepted: boolean): Promise<void> => {
    const added = sightings.filter(({ name }) => !seenByName.has(name))
    if (seenByName.size + added.length > seenNamesMax)
      throw (await limit.extras()).seenNamesFull(seenNamesMax)
    const change = (text: string | null): string => {
      restore(text)
      const names = new Map(seenByName)
      for (const seen of sightings)
        if (isAccepted || !names.has(seen.name)) names.set(seen.name, seen)
      return format(names)
    }
    await shared.update(await key(), change, join)
    // Only what is stored is remembered, so that the next lookup of the name fails, too, if it cannot be stored.
    for (const seen of sightings)
      if (isAccepted || !seenByName.has(seen.name)) seenByName.set(seen.name, seen)
  }

  return {
    /**
     * What is remembered of each name under another party; null: nothing. With `isRemembered` new names are added.
     *
     * @throws {QuorumscanError} SEEN_NAMES_FULL if they cannot be: no name is forgotten for another one. STORE_UNAVAILABLE.
     */
    async compare(read: readonly Sighting[], isRemembered: boolean): Promise<(SeenName | null)[]> {
      if (read.some(({ name, party }) => seenByName.get(name)?.party !== party))
        restore(await shared.get(await key(), parseRows))
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
      const { announceAccepted } = await limit.extras()
      announceAccepted(await key(), read.name)
    },
  }
}

/** @throws {TypeError} If the text is not a list of names as this version writes it. */
function parseRows(text: string | null): Row[] {
  const rows = text === null ? [] : parseJson(text)
  if (Array.isArray(rows) && rows.every(isRow)) return rows
  throw new TypeError('its list of names is damaged, or of a newer version of the SDK')
}

type Row = [string, string, number]

function isRow(value: unknown): value is Row {
  const [name, party, atMicros] = Array.isArray(value) && value.length === 3 ? value : []
  return typeof name === 'string' && typeof party === 'string' && typeof atMicros === 'number'
}
