/**
 * Predicts which cells the later entries of a batch will miss, so that they are fetched together.
 * A wrong guess costs a read, a missing one a round trip. Neither changes a result.
 */
import type { CellKey } from '@quorumscan/ledger'
import type { ContractId, PartyId, Submission } from '@quorumscan/model'

/** An entry of the batch; its submission is null for other kinds of entries. */
export type Ahead = {
  readonly submission: Submission | null
  /** Interprets the entry on the cells known so far, and returns the cells that it misses. */
  needs(): readonly CellKey[]
}

/**
 * The guesses for one entry, and for a whole batch. A guess costs some 40 µs, and an entry can name thousands of
 * contracts that no index lists. Usual entries name fewer than this.
 */
const SUBJECTS_PER_ENTRY_MAX = 8
const GUESSES_MAX = 10_000

const CONTRACT_IDS = /\b00[0-9a-f]{64}\b/g
/** `<prefix><party>` and `<prefix><contract id>`. */
const PARTY_KEY = /^(party:[A-Za-z]+:)/
const CONTRACT_KEY = /^([a-z]+:)00[0-9a-f]{64}$/

export function createLookahead(batch: readonly Ahead[]) {
  // An entry is tried again only while it misses cells: the work is linear in the batch.
  const missing = new Set(batch.keys())
  const contracts = new Set<ContractId>()
  const parties = new Set<PartyId>()
  for (const { submission } of batch) {
    if (submission === null) continue
    for (const party of submission.actAs.slice(0, SUBJECTS_PER_ENTRY_MAX)) parties.add(party)
    const ids = JSON.stringify(submission.commands).match(CONTRACT_IDS) ?? []
    for (const id of ids.slice(0, SUBJECTS_PER_ENTRY_MAX)) contracts.add(id)
  }
  const knownPrefixes = new Set<string>()
  let guessesLeft = GUESSES_MAX

  /** If one entry reads an index by party or contract, others will read it for their parties and contracts. */
  const siblings = (needs: readonly CellKey[]): CellKey[] => {
    const keys: CellKey[] = []
    for (const need of needs) {
      if (need.kind !== 'index') continue
      const byParty = PARTY_KEY.exec(need.key)?.[1]
      const prefix = byParty ?? CONTRACT_KEY.exec(need.key)?.[1]
      if (prefix === undefined || knownPrefixes.has(prefix)) continue
      knownPrefixes.add(prefix)
      for (const subject of byParty === undefined ? contracts : parties) {
        if (guessesLeft === 0) break
        guessesLeft--
        keys.push({ kind: 'index', key: prefix + subject })
      }
    }
    return keys
  }

  return {
    /** The cells to fetch along with the needs of the entry at this position. */
    alongWith(position: number, needs: readonly CellKey[]): readonly CellKey[] {
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
