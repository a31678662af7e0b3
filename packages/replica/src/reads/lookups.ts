/** The reads of the lookup API at a pinned offset: names, parties, activities and documents. */
import { assert } from '@quorumscan/base'
import type { Contract, Offset, PartyId } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import { syntheticEntries } from '../storage/plan-versions.ts'
import type { TimelineEntry } from '../storage/timeline.ts'
import { type ActivityBody, type ActivityPage, readActivities } from './activity-reads.ts'
import type { Store } from './contracts.ts'
import type { NameReader } from './name-reader.ts'
import { readDocuments, readNames, readNamesOfParty, readParties, readPrefix } from './reads.ts'
import { createStoredPages } from './stored-pages.ts'

/** Templates of which the contract in force at an offset can be read. */
export type DocumentEntity = 'DsoRules' | 'AnsRules' | 'CoinRules' | 'OpenMiningRound'

type Page = { readonly after: string | null; readonly limit: number; readonly offset: Offset }

/**
 * Each throws ScanError OFFSET_NOT_REACHED, OFFSET_PRUNED, STATE_DIVERGED or DEPENDENCY_UNAVAILABLE.
 *
 * @param readablePositionOf - Returns the position of an offset; throws if the stored state differs from the log.
 */
export function createLookups(context: {
  readonly store: Store
  readonly genesis: Genesis
  readonly nameReader: NameReader
  readonly readablePositionOf: (offset: Offset) => TimelineEntry
}) {
  const { store, genesis, nameReader, readablePositionOf } = context
  const { redis } = store
  const syntheticBodies = new Map(syntheticEntries(genesis).map(({ user, body }) => [user, body]))
  const storedPages = createStoredPages()
  const documentsAsOf = async (entity: DocumentEntity | 'ScanAddress', offset: Offset) =>
    await readDocuments(store, entity, readablePositionOf(offset))

  return {
    /** Bytes of the entries with these names at a pinned offset, in the order asked; null for none. */
    async lookupNames(names: readonly string[], offset: Offset): Promise<Bodies> {
      const bodies = await readNames(nameReader, names, readablePositionOf(offset))
      // The read compared the values with the state tree: it may have found a difference.
      readablePositionOf(offset)
      return bodies
    },
    /** The entry that represents each party: its synthetic one, else its lowest live name (D-12). */
    async lookupParties(parties: readonly PartyId[], offset: Offset): Promise<Bodies> {
      const position = readablePositionOf(offset)
      const others = parties.filter((party) => !syntheticBodies.has(party))
      const found = await readParties(redis, others, position)
      let next = 0
      return parties.map((party) => syntheticBodies.get(party) ?? found[next++] ?? null)
    },
    /** Live entries whose names start with the prefix, in UTF-8 byte order, after a name (D-11). */
    async listByPrefix(page: Page & { readonly prefix: string }) {
      const position = readablePositionOf(page.offset)
      const { prefix, after, limit } = page
      const key = JSON.stringify([prefix, after, limit])
      return await storedPages(position, key, () => readPrefix(redis, page, position))
    },
    /** Live entries of a party, its synthetic one included, in byte order of the names, after a name. */
    listByParty: async (page: Page & { readonly party: PartyId }) =>
      await readNamesOfParty(redis, page, readablePositionOf(page.offset)),
    /**
     * Rows of the activity history at a pinned offset, in the order of their event ids (D-25), of all parties or of one
     * party's own history. A walk continues `after` the event id of its last row, at the same offset or a later one,
     * until a page is empty: large rows make a page shorter than its limit.
     */
    activities: async (
      page: ActivityPage & { readonly offset: Offset },
    ): Promise<readonly ActivityBody[]> =>
      await readActivities(redis, page, readablePositionOf(page.offset), genesis),
    /** The contract in force at a pinned offset; of the rounds the newest open one. */
    async documentAsOf(entity: DocumentEntity, offset: Offset): Promise<Contract> {
      const [contract] = await documentsAsOf(entity, offset)
      assert(contract !== undefined, `a ${entity} is in force from genesis on`)
      return contract
    },
    /** All that are active at a pinned offset, the newest first. */
    documentsAsOf,
  }
}
type Bodies = readonly (Uint8Array | null)[]
