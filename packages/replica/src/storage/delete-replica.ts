/** Deleting a replica out of a Redis that it shares with what must stay. */
import type { Redis } from 'ioredis'
import { KEYS } from './keys.ts'

/** The hash tag of every key of a replica (`keys.ts`), and of nothing else. */
const REPLICA_KEYS = '{replica}:*'
const SCAN_COUNT = 1000

/** Returns how many keys went. Whoever writes meanwhile is fenced. */
export async function deleteReplica(redis: Redis): Promise<number> {
  // With its head, without which what is left is no replica.
  let deleted = await redis.unlink(KEYS.names)
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', REPLICA_KEYS, 'COUNT', SCAN_COUNT)
    cursor = next
    if (keys.length > 0) deleted += await redis.unlink(...keys)
  } while (cursor !== '0')
  return deleted
}
