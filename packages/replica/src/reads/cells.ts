/** Fetches cells of the newest state, the values that `CellKey` names, in one round trip. */
import { fromHex } from '@quorumscan/base'
import type { CellKey, LoadedCell } from '@quorumscan/ledger'
import type { ContractId } from '@quorumscan/model'
import { decodeChange } from '../storage/change-records.ts'
import { toRedis } from '../storage/commands.ts'
import { KEYS } from '../storage/keys.ts'
import { readActiveContracts, type Store } from './contracts.ts'

/** The requested cells, and the contracts under requested index keys. */
export async function fetchCells(store: Store, keys: readonly CellKey[]): Promise<LoadedCell[]> {
  const asked = groupByKind(keys)
  const [contracts, records] = await Promise.all([
    fetchContractCells(store, asked),
    fetchRecordCells(store, asked),
  ])
  return [...contracts, ...records]
}

async function fetchContractCells(store: Store, asked: CellRequest): Promise<LoadedCell[]> {
  if (asked.contract.length + asked.index.length === 0) return []
  const keys = asked.index.map((key) => ({ key, count: -1 }))
  const { byId, byKey } = await readActiveContracts(store, { ids: asked.contract, keys })
  const cells: LoadedCell[] = byId.map((value, index) => ({
    kind: 'contract',
    id: asked.contract[index] as ContractId,
    value,
  }))
  for (const [index, { contracts }] of byKey.entries()) {
    // Interpretation sees them in the order of their ids, whatever the order of the index is.
    const value = contracts.map(({ contractId }) => contractId).sort()
    cells.push({ kind: 'index', key: asked.index[index] as string, value })
    for (const contract of contracts)
      cells.push({ kind: 'contract', id: contract.contractId, value: contract })
  }
  return cells
}

/** Records of change IDs, hashes of applied entries (`seen`), and hosted parties. */
async function fetchRecordCells({ redis }: Store, { change, seen, party }: CellRequest) {
  const [changes, untils, scores] = await Promise.all([
    change.length === 0 ? [] : redis.hmgetBuffer(KEYS.changes, ...change.map(idBytes)),
    seen.length === 0 ? [] : redis.zmscore(KEYS.seen, ...seen.map(idBytes)),
    party.length === 0 ? [] : redis.zmscore(KEYS.hosted, ...party),
  ])
  return [
    ...changes.map((bytes, index): LoadedCell => {
      const value = bytes === null ? null : decodeChange(bytes)
      return { kind: 'change', id: change[index] as string, value }
    }),
    ...untils.map((until, index): LoadedCell => {
      const value = until === null ? null : Number(until)
      return { kind: 'seen', id: seen[index] as string, value }
    }),
    ...scores.map((score, index): LoadedCell => {
      return { kind: 'party', id: party[index] as string, value: score !== null }
    }),
  ]
}

type CellRequest = Readonly<Record<CellKey['kind'], readonly string[]>>

function groupByKind(keys: readonly CellKey[]): CellRequest {
  type Groups = Record<CellKey['kind'], string[]>
  const groups: Groups = { contract: [], index: [], change: [], seen: [], party: [] }
  for (const key of keys) groups[key.kind].push(key.kind === 'index' ? key.key : key.id)
  return groups
}

function idBytes(hex: string): Buffer {
  return toRedis(fromHex(hex)) as Buffer
}
