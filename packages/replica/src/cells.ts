/** Fetches cells of the newest state, however many, in one round trip. */
import { assert, fromHex } from '@quorumscan/base'
import type { CellKey, LoadedCell } from '@quorumscan/ledger'
import type { Contract, ContractId } from '@quorumscan/model'
import type { ChainableCommander, Redis } from 'ioredis'
import { unpackContract } from './contract-packing.ts'
import { contractIdBytes, contractIdOf, membersWith, TAG_BYTES, tagOf } from './intern.ts'
import { KEYS } from './keys.ts'
import { decodeChange } from './plan.ts'
import { toRedis } from './scripts.ts'

export async function fetchCells(redis: Redis, keys: readonly CellKey[]): Promise<LoadedCell[]> {
  // A pipeline, because ioredis hands every other command to the socket by itself.
  const pipeline = redis.pipeline()
  const asked = groupByKind(keys)
  const takers = [
    askContracts(pipeline, asked.contract),
    ...asked.index.map((key) => askIndex(pipeline, key)),
    askChanges(pipeline, asked.change),
    askSeen(pipeline, asked.seen),
    askParties(pipeline, asked.party),
  ].filter((taker) => taker !== null)
  const replies = (await pipeline.exec()) ?? []
  return takers.flatMap((take, index) => {
    const reply = replies[index]
    assert(reply !== undefined, 'every command of a pipeline has its reply')
    if (reply[0] !== null) throw reply[0]
    return take(reply[1])
  })
}

/** Active contracts in the order asked; null for what is none. */
export async function fetchContracts(
  redis: Redis,
  ids: readonly ContractId[],
): Promise<(Contract | null)[]> {
  const cells = await fetchCells(
    redis,
    ids.map((id) => ({ kind: 'contract', id })),
  )
  return cells.map((cell) => (cell.kind === 'contract' ? cell.value : null))
}

/** Makes cells of the reply to the command that was put into the pipeline. */
type Taker = (reply: unknown) => LoadedCell[]

function askContracts(pipeline: ChainableCommander, ids: readonly ContractId[]): Taker | null {
  if (ids.length === 0) return null
  // A text that is no contract id is looked for under an id that nothing has.
  const fields = ids.map((id) => buffer(contractIdBytes(id) ?? new Uint8Array(0)))
  pipeline.hmgetBuffer(KEYS.contracts, ...fields)
  return (reply) =>
    (reply as (Buffer | null)[]).map((bytes, index) => ({
      kind: 'contract',
      id: ids[index] as ContractId,
      value: bytes === null ? null : unpackContract(bytes),
    }))
}

function askIndex(pipeline: ChainableCommander, key: string): Taker {
  const { min, max } = membersWith(tagOf(key))
  pipeline.zrangeBuffer(KEYS.index, buffer(min), buffer(max), 'BYLEX')
  return (reply) => {
    const members = reply as Buffer[]
    const value = members.map((member) => contractIdOf(member.subarray(TAG_BYTES)))
    return [{ kind: 'index', key, value }]
  }
}

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

function groupByKind(keys: readonly CellKey[]): Record<CellKey['kind'], string[]> {
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
