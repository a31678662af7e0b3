/**
 * Learns early which cells the later entries of a batch will miss, so that they are fetched together.
 * What it guesses too much costs a read, what it misses a round trip; neither changes a result.
 */
import type { CellKey } from '@quorumscan/ledger'
import type { ContractId, PartyId, Submission } from '@quorumscan/model'

/** An entry as far as the lookahead is concerned; null for what is no submission. */
export type Ahead = {
  readonly submission: Submission | null
  /** Interprets on what is known so far, only for what it misses. */
  needs(): readonly CellKey[]
}

export type Lookahead = {
  /** What to fetch along with the needs of the entry at this position. */
  alongWith(position: number, needs: readonly CellKey[]): readonly CellKey[]
}

const CONTRACT_IDS = /\b00[0-9a-f]{64}\b/g
/** `<prefix><party>` and `<prefix><contract id>`. */
const PARTY_KEY = /^(party:[A-Za-z]+:)/
const CONTRACT_KEY = /^([a-z]+:)00[0-9a-f]{64}$/

export function createLookahead(batch: readonly Ahead[]): Lookahead {
  // An entry is tried again only while it misses cells: the work is linear in the batch.
  const missing = new Set(batch.keys())
  const contracts = new Set<ContractId>()
  const parties = new Set<PartyId>()
  for (const { submission } of batch) {
    if (submission === null) continue
    for (const party of submission.actAs) parties.add(party)
    for (const id of JSON.stringify(submission.commands).match(CONTRACT_IDS) ?? [])
      contracts.add(id)
  }
  const knownPrefixes = new Set<string>()

  /** What one entry reads by party or by contract, others will read by theirs. */
  const siblings = (needs: readonly CellKey[]): CellKey[] => {
    const keys: CellKey[] = []
    for (const need of needs) {
      if (need.kind !== 'index') continue
      const byParty = PARTY_KEY.exec(need.key)?.[1]
      const prefix = byParty ?? CONTRACT_KEY.exec(need.key)?.[1]
      if (prefix === undefined || knownPrefixes.has(prefix)) continue
      knownPrefixes.add(prefix)
      for (const subject of byParty === undefined ? contracts : parties)
        keys.push({ kind: 'index', key: prefix + subject })
    }
    return keys
  }

  return {
    alongWith(position, needs) {
      const keys: CellKey[] = []
      for (const index of missing) {
        const more = index > position ? (batch[index]?.needs() ?? []) : []
        if (more.length === 0) missing.delete(index)
        keys.push(...more)
      }
      return [...keys, ...siblings([...needs, ...keys])]
    },
  }
}
