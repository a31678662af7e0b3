/** Fetches cells of the newest state, however many, at once. */
import { fromHex } from '@quorumscan/base'
import type { CellKey, LoadedCell } from '@quorumscan/ledger'
import type { ContractId } from '@quorumscan/model'
import { decodeChange } from '../ingest/plan.ts'
import { toRedis } from '../storage/commands.ts'
import { KEYS } from '../storage/keys.ts'
import { execute } from '../storage/moment.ts'
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
  const cellsOf: ((replies: unknown) => LoadedCell[])[] = []
  const ask = <Reply>(
    ids: readonly string[],
    addCommand: () => unknown,
    cellOf: (id: string, reply: Reply) => LoadedCell,
  ): void => {
    if (ids.length === 0) return
    addCommand()
    cellsOf.push((replies) =>
      (replies as Reply[]).map((reply, index) => cellOf(ids[index] as string, reply)),
    )
  }
  const { change, seen, party } = asked
  ask<Buffer | null>(
    change,
    () => pipeline.hmgetBuffer(KEYS.changes, ...change.map(idBytes)),
    (id, bytes) => ({ kind: 'change', id, value: bytes === null ? null : decodeChange(bytes) }),
  )
  ask<string | null>(
    seen,
    () => pipeline.zmscore(KEYS.seen, ...seen.map(idBytes)),
    (id, until) => ({ kind: 'seen', id, value: until === null ? null : Number(until) }),
  )
  ask<string | null>(
    party,
    () => pipeline.zmscore(KEYS.hosted, ...party),
    (id, score) => ({ kind: 'party', id, value: score !== null }),
  )
  if (cellsOf.length === 0) return []
  const replies = await execute(pipeline)
  return cellsOf.flatMap((cells, index) => cells(replies[index]))
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

function idBytes(hex: string): Buffer {
  return toRedis(fromHex(hex)) as Buffer
}
