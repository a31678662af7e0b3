/** Deletes a replica from a Redis that also holds data of other packages. */
import type { Redis } from 'ioredis'
import { KEYS } from './keys.ts'

/** The hash tag of every key of a replica (`keys.ts`), and of nothing else. */
const REPLICA_KEYS = '{replica}:*'
const SCAN_COUNT = 1000

/** Returns the number of deleted keys. A process that writes meanwhile is fenced. */
export async function deleteReplica(redis: Redis): Promise<number> {
  // The head is part of this key. Without a head the other keys are not a replica.
  let deleted = await redis.unlink(KEYS.names)
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', REPLICA_KEYS, 'COUNT', SCAN_COUNT)
    cursor = next
    if (keys.length > 0) deleted += await redis.unlink(...keys)
  } while (cursor !== '0')
  return deleted
}
