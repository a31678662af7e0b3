/** Reads of the newest applied state: the reading part of the port `Ledger`, and what wallets and the /v2 surface need. */
import { assert, type Clock } from '@quorumscan/base'
import type { Ledger } from '@quorumscan/ledger'
import type { CompletionRecord, Contract, Micros, Offset, PartyId } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import { reach } from '../connection.ts'
import { fetchCells, fetchContracts } from './cells.ts'
import { readCompletions } from './completions.ts'
import { walkContracts, walkContractsByKey } from './contract-walks.ts'
import type { Store } from './contracts.ts'
import { type JoinedContracts, readJoinedContracts } from './joined-reads.ts'
import { dryRun, readContractsByKey, readDueItems, readHostedParties } from './ledger-reads.ts'

/** Contracts of one key that are read unless the caller says otherwise. */
const CONTRACTS_BY_KEY_MAX = 10_000

type LedgerReads = Pick<
  Ledger,
  'contracts' | 'contractsByKey' | 'isPartyAllocated' | 'dueItems' | 'dryRun'
>

export type NewestReads = LedgerReads & {
  /**
   * Active contracts of several keys at one moment, at most `limit` of each: for joins, which would miss what moves
   * from one key to another between two reads.
   */
  contractsByKeys(
    keys: readonly string[],
    options?: { readonly limit?: number },
  ): Promise<JoinedContracts>
  /** Completions of the own participant after an offset and up to another one, at most one an offset. */
  completions(range: {
    readonly after: Offset
    readonly upTo: Offset
    readonly limit: number
  }): Promise<readonly CompletionRecord[]>
  /** Active contracts under an index key, or all of them for null, in portions (`contract-walks.ts`). */
  walkContracts(key: string | null): AsyncGenerator<readonly Contract[]>
  /** Allocated parties of the whole network in byte order, after `after` ('' from the first). */
  parties(page: {
    readonly after: PartyId | ''
    readonly limit: number
  }): Promise<readonly PartyId[]>
}

export function createNewestReads(context: {
  readonly store: Store
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly clock: Clock
  /** Of the head. */
  readonly recordTime: () => Micros
}): NewestReads {
  const { store, genesis, genesisHash, clock, recordTime } = context
  const { redis, layout } = store
  return {
    contracts: async (ids) => await reach(fetchContracts(store, ids)),
    contractsByKey: (key, { limit = CONTRACTS_BY_KEY_MAX } = {}) =>
      readContractsByKey(store, key, limit),
    contractsByKeys: (keys, { limit = CONTRACTS_BY_KEY_MAX } = {}) =>
      readJoinedContracts(store, keys, { limit }),
    completions: (range) => readCompletions(redis, range),
    walkContracts: (key) => (key === null ? walkContracts(store) : walkContractsByKey(store, key)),
    async isPartyAllocated(party) {
      const [cell] = await reach(fetchCells(store, [{ kind: 'party', id: party }]))
      return cell?.value === true
    },
    parties: (page) => readHostedParties(redis, page),
    async dueItems(query) {
      assert(layout.hasDue(query.job), `this replica keeps what is due for ${query.job}`)
      return await readDueItems(redis, { ...query, recordTime: recordTime() })
    },
    dryRun(submission, { notBefore = 0 } = {}) {
      const now = Math.max(clock.nowMicros(), notBefore)
      return dryRun(store, submission, { genesis, genesisHash, now })
    },
  }
}
