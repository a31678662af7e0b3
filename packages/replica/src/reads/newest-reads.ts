/** Reads of the newest applied state: the reading part of the port `Ledger`, and what wallets and the /v2 surface need. */
import { assert, type Clock } from '@quorumscan/base'
import { type DueItem, growthOf, type Ledger } from '@quorumscan/ledger'
import type { Contract, ContractId, Micros, Offset, PartyId } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import { contractIdOf } from '../storage/intern.ts'
import { dueKey, KEYS } from '../storage/keys.ts'
import { newestFirst } from '../storage/order.ts'
import { fetchCells } from './cells.ts'
import { readCompletions } from './completions.ts'
import {
  type ListPage,
  type Position,
  readActiveContracts,
  readJoinedContracts,
  readListPage,
  readTotalsAtHead,
  type Store,
  walkContracts,
  walkContractsByKey,
  walkContractsByKeys,
} from './contracts.ts'
import { dryRun } from './dry-run.ts'

/** Contracts of one key that are read by default. */
const CONTRACTS_BY_KEY_MAX = 10_000
/** Items per command: what Redis does without noticeable delay for others. */
const PORTION = 1_000

type Limit = { readonly limit?: number }

export function createNewestReads(context: {
  readonly store: Store
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly clock: Clock
  /** The record time of the head. */
  readonly recordTime: () => Micros
}) {
  const { store, genesis, genesisHash, clock, recordTime } = context
  const { redis, layout } = store
  return {
    contracts: async (ids: readonly ContractId[]) =>
      (await reach(readActiveContracts(store, { ids }))).byId,
    async contractsByKey(key: string, { limit = CONTRACTS_BY_KEY_MAX }: Limit = {}) {
      const found: Contract[] = []
      for await (const contracts of walkContractsByKey(store, key, { limit }))
        found.push(...contracts)
      return found
    },
    /**
     * Active contracts of several keys, at most `limit` of each, read atomically: for joins, which would miss a contract that
     * moves from one key to another between two reads.
     */
    contractsByKeys: (keys: readonly string[], { limit = CONTRACTS_BY_KEY_MAX }: Limit = {}) =>
      readJoinedContracts(store, keys, limit),
    /** A page of the contracts under any of the index keys, which have the same order (`contracts.ts`). */
    listContracts: (
      keys: readonly string[],
      page: { readonly after?: Position | undefined; readonly limit: number },
    ): Promise<ListPage> => readListPage(store, keys, page),
    /** Number and sum of the contracts of each of these lists by amount (`amountKey`), at one head. */
    totals: (keys: readonly string[]) => readTotalsAtHead(store, keys),
    /** Completions of the local participant after an offset and up to another one, at most one per offset. */
    completions: (range: Parameters<typeof readCompletions>[1]) => readCompletions(redis, range),
    /** All active contracts, in portions (`contracts.ts`). */
    walkContracts: () => walkContracts(store),
    /**
     * Active contracts under index keys that were created up to an offset, in portions: later ones are not read.
     *
     * @param of.portion - Contracts of a portion, about.
     */
    walkContractsByKeys: (
      keys: readonly string[],
      { portion, upTo }: { readonly portion: number; readonly upTo: Offset },
    ) => walkContractsByKeys(store, keys, { portion, from: newestFirst(upTo) }),
    async isPartyAllocated(party: PartyId) {
      const [cell] = await reach(fetchCells(store, [{ kind: 'party', id: party }]))
      return cell?.value === true
    },
    /** Allocated parties of the whole network that begin with `prefix`, in byte order, after `after` ('' from the first). */
    async parties(page: {
      readonly after: PartyId | ''
      readonly limit: number
      readonly prefix: string
    }) {
      const { after, limit, prefix } = page
      const from = after < prefix || after === '' ? `[${prefix}` : `(${after}`
      // Parties are ASCII, and no character of theirs is as high.
      const to = `(${prefix}\x7f`
      return await reach(redis.zrange(KEYS.hosted, from, to, 'BYLEX', 'LIMIT', 0, limit))
    },
    async dueItems(query: Parameters<Ledger['dueItems']>[0]) {
      assert(layout.hasDue(query.job), `this replica keeps what is due for ${query.job}`)
      return await readDueItems(redis, query, recordTime())
    },
    async dryRun(...[submission, { notBefore = 0 } = {}]: Parameters<Ledger['dryRun']>) {
      const now = Math.max(clock.nowMicros(), notBefore)
      const { result, delta } = await dryRun(store, submission, { genesis, genesisHash, now })
      return { result, growth: result.kind === 'accepted' ? growthOf(delta) : 0 }
    },
  }
}

/** What the job is due for at or before the record time, by (time, contract id), after the cursor. */
async function readDueItems(
  redis: Redis,
  { job, limit, after }: Parameters<Ledger['dueItems']>[0],
  recordTime: Micros,
): Promise<DueItem[]> {
  const found: DueItem[] = []
  // Items with one time come from one transaction, so few are skipped here (1 000 events at most).
  for (let skipped = 0; found.length < limit; skipped += PORTION) {
    const min = after?.at ?? '-inf'
    const range = ['WITHSCORES', 'LIMIT', skipped, PORTION] as const
    const flat = await reach(redis.zrangebyscoreBuffer(dueKey(job), min, recordTime, ...range))
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const contractId = contractIdOf(flat[i] as Buffer)
      const item = { job, contractId, at: Number(flat[i + 1]) }
      if (after === null || isAfter(item, after)) found.push(item)
    }
    if (flat.length < 2 * PORTION) break
  }
  return found.slice(0, limit)
}

function isAfter(item: DueItem, after: DueItem): boolean {
  // Contract ids have one length and one case: their order is that of their bytes.
  return item.at === after.at ? item.contractId > after.contractId : item.at > after.at
}
