/** Fetches cells of the newest state, however many, at once. */
import { assert, fromHex } from '@quorumscan/base'
import type { CellKey, LoadedCell } from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'
import type { ChainableCommander } from 'ioredis'
import { decodeChange } from '../ingest/plan.ts'
import { toRedis } from '../storage/commands.ts'
import { KEYS } from '../storage/keys.ts'
import { readMoment, type Store } from './contracts.ts'

/** The cells asked for, and the contracts that came along with their index keys. */
export async function fetchCells(store: Store, keys: readonly CellKey[]): Promise<LoadedCell[]> {
  const asked = groupByKind(keys)
  const [contracts, records] = await Promise.all([
    fetchContractCells(store, asked),
    fetchRecordCells(store, asked),
  ])
  return [...contracts, ...records]
}

/** Active contracts in the order asked; null for what is none. */
export async function fetchContracts(
  store: Store,
  ids: readonly ContractId[],
): Promise<readonly (Contract | null)[]> {
  return (await readMoment(store, { ids })).byId
}

async function fetchContractCells(store: Store, asked: Asked): Promise<LoadedCell[]> {
  if (asked.contract.length + asked.index.length === 0) return []
  const { byId, byKey } = await readMoment(store, {
    ids: asked.contract,
    keys: asked.index.map((key) => ({ key, count: -1 })),
  })
  const cells: LoadedCell[] = byId.map((value, index) => ({
    kind: 'contract',
    id: asked.contract[index] as ContractId,
    value,
  }))
  for (const [index, { contracts }] of byKey.entries()) {
    const value = contracts.map(({ contractId }) => contractId)
    cells.push({ kind: 'index', key: asked.index[index] as string, value })
    for (const contract of contracts)
      cells.push({ kind: 'contract', id: contract.contractId, value: contract })
  }
  return cells
}

async function fetchRecordCells({ redis }: Store, asked: Asked): Promise<LoadedCell[]> {
  // A pipeline, because ioredis hands every other command to the socket by itself.
  const pipeline = redis.pipeline()
  const takers = [
    askChanges(pipeline, asked.change),
    askSeen(pipeline, asked.seen),
    askParties(pipeline, asked.party),
  ].filter((taker) => taker !== null)
  if (takers.length === 0) return []
  const replies = (await pipeline.exec()) ?? []
  return takers.flatMap((take, index) => {
    const reply = replies[index]
    assert(reply !== undefined, 'every command of a pipeline has its reply')
    if (reply[0] !== null) throw reply[0]
    return take(reply[1])
  })
}

/** Makes cells of the reply to the command that was put into the pipeline. */
type Taker = (reply: unknown) => LoadedCell[]

function askChanges(pipeline: ChainableCommander, ids: readonly string[]): Taker | null {
  if (ids.length === 0) return null
  pipeline.hmgetBuffer(KEYS.changes, ...ids.map((id) => buffer(fromHex(id))))
  return (reply) =>
    (reply as (Buffer | null)[]).map((bytes, index) => ({
      kind: 'change',
      id: ids[index] as string,
      value: bytes === null ? null : decodeChange(bytes),
    }))
}

function askSeen(pipeline: ChainableCommander, ids: readonly string[]): Taker | null {
  if (ids.length === 0) return null
  pipeline.zmscore(KEYS.seen, ...ids.map((id) => buffer(fromHex(id))))
  return (reply) =>
    (reply as (string | null)[]).map((score, index) => ({
      kind: 'seen',
      id: ids[index] as string,
      value: score === null ? null : Number(score),
    }))
}

function askParties(pipeline: ChainableCommander, parties: readonly string[]): Taker | null {
  if (parties.length === 0) return null
  pipeline.zmscore(KEYS.hosted, ...parties)
  return (reply) =>
    (reply as (string | null)[]).map((score, index) => ({
      kind: 'party',
      id: parties[index] as string,
      value: score !== null,
    }))
}

type Asked = Readonly<Record<CellKey['kind'], readonly string[]>>

function groupByKind(keys: readonly CellKey[]): Asked {
  const groups: Record<CellKey['kind'], string[]> = {
    contract: [],
    index: [],
    change: [],
    seen: [],
    party: [],
  }
  for (const key of keys) groups[key.kind].push(key.kind === 'index' ? key.key : key.id)
  return groups
}

function buffer(bytes: Uint8Array): Buffer {
  return toRedis(bytes) as Buffer
}
