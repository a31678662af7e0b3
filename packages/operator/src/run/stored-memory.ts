/** Whether what the Redis of an operator holds fits into its budget: if not, it refuses all writes, and ingest stands still. */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readMemory, withRedis } from '@quorumscan/redis'
import { UsageError } from '@quorumscan/runtime'
import type { RedisService } from '@quorumscan/supervisor'
import { REDIS_MEMORY_VARIABLE, redisMemoryBudget } from '../redis-memory.ts'

const MIB = 2 ** 20
/** An operator should have this share in use at most, below the alert. */
const COMFORTABLE_SHARE = 0.75
/** The beginning of a file, which has its facts. */
const HEAD_BYTES = 1024
const USED_MEMORY = Buffer.from('used-mem')
/** Integers in the form of RDB files: the byte that precedes them, and their sizes. */
const INTEGER_BYTES: Readonly<Record<number, number>> = { 192: 1, 193: 2, 194: 4 }
const TEXT_BYTES_MAX = 63

type Variables = Readonly<Record<string, string | undefined>>

/**
 * Why so much memory does not fit into the budget, with what to set; null: it fits.
 *
 * @param usedBytes - What Redis uses, or used when it wrote its file.
 */
export function problemOfMemory(usedBytes: number, variables: Variables): string | null {
  const text = variables[REDIS_MEMORY_VARIABLE]
  const budgetBytes = redisMemoryBudget(text)
  if (usedBytes <= budgetBytes) return null
  const budget = text
    ? `${REDIS_MEMORY_VARIABLE} allows ${text} MiB`
    : `${REDIS_MEMORY_VARIABLE} is not set, and half of this machine's memory is ${Math.floor(budgetBytes / MIB)} MiB`
  const used = Math.ceil(usedBytes / MIB)
  const needed = comfortableMib(usedBytes)
  return `${budget}, but its Redis holds ${used} MiB: it would refuse all writes, and the replica would stall. Set ${REDIS_MEMORY_VARIABLE} to ${needed} or more`
}

/** Of a Redis that has started. @throws {UsageError} If it holds more than its budget. */
export async function refuseOverfull(service: RedisService, variables: Variables): Promise<void> {
  const overfullBytes = await readOverfullBytes(service)
  const problem = overfullBytes === null ? null : problemOfMemory(overfullBytes, variables)
  if (problem !== null) throw new UsageError(`everything was stopped: ${problem}, and run again`)
}

/** What a Redis uses that was started here, if that is more than its `maxmemory`; else null. */
export async function readOverfullBytes(
  service: Pick<RedisService, 'isExternal' | 'redisAddress'>,
): Promise<number | null> {
  if (service.isExternal) return null
  const { memoryBytes, memoryBytesMax } = await withRedis(service.redisAddress, 'probe', readMemory)
  return memoryBytesMax === 0 || memoryBytes <= memoryBytesMax ? null : memoryBytes
}

/** The budget, in MiB, with which so much memory is below the alert. */
export function comfortableMib(usedBytes: number): number {
  return Math.ceil(usedBytes / COMFORTABLE_SHARE / MIB)
}

/** What Redis used when it wrote its file last; null: there is no file, or it does not say. */
export async function storedMemoryBytes(redisDirectory: string): Promise<number | null> {
  const names = await readdir(redisDirectory, { recursive: true }).catch(() => [])
  const bases = names.filter((name) => /\.base\.rdb$/.test(name)).sort(bySequence)
  const file = bases.at(-1) ?? names.find((name) => name === 'dump.rdb')
  return file === undefined ? null : usedMemoryIn(await headOf(join(redisDirectory, file)))
}

/** `appendonly.aof.12.base.rdb`: the number counts. */
function bySequence(a: string, b: string): number {
  const sequenceOf = (name: string) => Number(/\.(\d+)\.base\.rdb$/.exec(name)?.[1] ?? 0)
  return sequenceOf(a) - sequenceOf(b)
}

async function headOf(file: string): Promise<Buffer> {
  const handle = await open(file)
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    const { bytesRead } = await handle.read(head, 0, HEAD_BYTES, 0)
    return head.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** The value that follows the name: a small integer, or a text of digits. */
export function usedMemoryIn(head: Buffer): number | null {
  const at = head.indexOf(USED_MEMORY)
  if (at === -1) return null
  const value = head.subarray(at + USED_MEMORY.byteLength)
  const form = value[0] ?? 0
  const integerBytes = INTEGER_BYTES[form]
  if (integerBytes !== undefined)
    return value.byteLength > integerBytes ? value.readIntLE(1, integerBytes) : null
  const text = form <= TEXT_BYTES_MAX ? value.subarray(1, 1 + form).toString('latin1') : ''
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : null
}
