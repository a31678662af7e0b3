/** Reads the whole store, and writes it into an empty Redis: for backups. */
import type { RedisAddress } from '@quorumscan/redis'
import type { Redis } from 'ioredis'
import { KEYS, openConnection, reach } from './connection.ts'

/** Members of a hash by field, of a sorted set (all of score 0) with nothing; base64, as some are not text. */
export type StorePart = {
  readonly key: string
  readonly items: readonly (readonly [string, string] | readonly [string])[]
}

/** Sorted sets; all other keys are hashes. */
const SORTED_SETS: readonly string[] = [KEYS.ids, KEYS.expired, KEYS.paymentExpiries]
const NAMES = Object.values(KEYS).sort()
/** The items of one part and of one write: a record of a user with all its rights has 150 KB, most have 300 bytes. */
const ITEMS_MAX = 1000

/**
 * The whole store at one moment, ordered by key and item. Redis answers no other client meanwhile: the time grows
 * with the number of users.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE.
 */
export async function readStore(address: RedisAddress): Promise<readonly StorePart[]> {
  using store = await openConnection(address)
  const asked = store.redis.multi()
  for (const key of NAMES)
    if (SORTED_SETS.includes(key)) asked.zrangeBuffer(key, '0', '-1')
    else asked.hgetallBuffer(key)
  const replies = (await reach(asked.exec())) ?? []
  return NAMES.flatMap((key, index) => {
    const [error, reply] = replies[index] ?? []
    if (error != null) throw error
    return partsOf(key, itemsOf(reply))
  })
}

/**
 * Puts back what `readStore` read; resolves when it is on disk.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE.
 * @throws {RangeError} If the store holds something already, or a key is unknown.
 */
export async function writeStore(address: RedisAddress, parts: AsyncIterable<StorePart>) {
  using store = await openConnection(address)
  const { redis } = store
  if ((await reach(redis.exists(...NAMES))) > 0)
    throw new RangeError('the Redis holds users already: restore into an empty one')
  for await (const part of parts) {
    if (!NAMES.some((name) => name === part.key))
      throw new RangeError(
        `the backup holds the unknown key ${part.key}: restore it with the release that wrote it`,
      )
    await store.write(() => writePart(redis, part))
  }
}

async function writePart(redis: Redis, { key, items }: StorePart): Promise<void> {
  const bytes = items.map((item) => item.map((text) => Buffer.from(text, 'base64')))
  if (SORTED_SETS.includes(key))
    await redis.zadd(key, ...bytes.flatMap(([member = Buffer.alloc(0)]) => [0, member]))
  else await redis.hset(key, ...bytes.flat())
}

/** The items of a reply of ioredis for a hash or a sorted set. */
function itemsOf(reply: unknown): StorePart['items'] {
  if (Array.isArray(reply)) return reply.map((member: Buffer) => [member.toString('base64')])
  const base64 = (text: string | Buffer) => Buffer.from(text as string).toString('base64')
  return Object.entries(reply as Record<string, Buffer>)
    .map(([field, value]) => [base64(field), base64(value)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
}

function partsOf(key: string, items: StorePart['items']): StorePart[] {
  const parts: StorePart[] = []
  for (let from = 0; from < items.length; from += ITEMS_MAX)
    parts.push({ key, items: items.slice(from, from + ITEMS_MAX) })
  return parts
}
