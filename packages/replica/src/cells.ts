/** Fetches cells of the newest state, however many, in one round trip. */
import { fromHex } from '@quorumscan/base'
import type { CellKey, LoadedCell } from '@quorumscan/ledger'
import type { ContractId } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { unpackContract } from './contract-packing.ts'
import { contractIdBytes, contractIdOf, membersWith, TAG_BYTES, tagOf } from './intern.ts'
import { KEYS } from './keys.ts'
import { decodeChange } from './plan.ts'
import { toRedis } from './scripts.ts'

export async function fetchCells(redis: Redis, keys: readonly CellKey[]): Promise<LoadedCell[]> {
  const contracts = keys.flatMap((key) => (key.kind === 'contract' ? [key.id] : []))
  const indexes = keys.flatMap((key) => (key.kind === 'index' ? [key.key] : []))
  const changes = keys.flatMap((key) => (key.kind === 'change' ? [key.id] : []))
  const seen = keys.flatMap((key) => (key.kind === 'seen' ? [key.id] : []))
  const parties = keys.flatMap((key) => (key.kind === 'party' ? [key.id] : []))
  // Sent together: one connection's commands of one turn leave in one write.
  const replies = await Promise.all([
    fetchContracts(redis, contracts),
    Promise.all(indexes.map((key) => fetchIndex(redis, key))),
    changes.length === 0 ? [] : redis.hmgetBuffer(KEYS.changes, ...changes.map(idBytes)),
    seen.length === 0 ? [] : redis.zmscore(KEYS.seen, ...seen.map(idBytes)),
    parties.length === 0 ? [] : redis.smismember(KEYS.hosted, ...parties),
  ])
  const [foundContracts, foundIndexes, foundChanges, foundSeen, foundParties] = replies
  return [
    ...contracts.map(
      (id, i) => ({ kind: 'contract', id, value: foundContracts[i] ?? null }) as const,
    ),
    ...indexes.map((key, i) => ({ kind: 'index', key, value: foundIndexes[i] ?? [] }) as const),
    ...changes.map((id, i) => {
      const bytes = foundChanges[i]
      return { kind: 'change', id, value: bytes == null ? null : decodeChange(bytes) } as const
    }),
    ...seen.map((id, i) => {
      const score = foundSeen[i]
      return { kind: 'seen', id, value: score == null ? null : Number(score) } as const
    }),
    ...parties.map((id, i) => ({ kind: 'party', id, value: foundParties[i] === 1 }) as const),
  ]
}

/** Active contracts in the order asked; null for what is none. */
export async function fetchContracts(redis: Redis, ids: readonly ContractId[]) {
  const known = ids.map(contractIdBytes)
  const fields = known.flatMap((bytes) => (bytes === undefined ? [] : [toRedis(bytes)]))
  const values =
    fields.length === 0 ? [] : await redis.hmgetBuffer(KEYS.contracts, ...(fields as Buffer[]))
  let next = 0
  return known.map((bytes) => {
    const value = bytes === undefined ? null : values[next++]
    return value === null || value === undefined ? null : unpackContract(value)
  })
}

async function fetchIndex(redis: Redis, key: string): Promise<ContractId[]> {
  const { min, max } = membersWith(tagOf(key))
  const bounds = [min, max].map(toRedis) as [Buffer, Buffer]
  const members = await redis.zrangeBuffer(KEYS.index, ...bounds, 'BYLEX')
  return members.map((member) => contractIdOf(member.subarray(TAG_BYTES)))
}

function idBytes(id: string): Buffer {
  return toRedis(fromHex(id)) as Buffer
}
