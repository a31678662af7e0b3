/** Deleting a replica out of a Redis that it shares with what must stay. */
import { createConnection } from '@quorumscan/redis'

/** The hash tag of every key of `packages/replica` (its `keys.ts`), and of nothing else. */
const REPLICA_KEYS = '{replica}:*'
const SCAN_COUNT = 1000
/** It may have been started just now. */
const RECONNECT = { stepMs: 50, msMax: 500 }

/** Deletes the replica behind the socket. Nothing may be writing to it. Returns how many keys went. */
export async function deleteReplica(socketPath: string): Promise<number> {
  const redis = createConnection({ path: socketPath, reconnect: RECONNECT })
  try {
    let cursor = '0'
    const found: string[] = []
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', REPLICA_KEYS, 'COUNT', SCAN_COUNT)
      cursor = next
      found.push(...keys)
    } while (cursor !== '0')
    // All at once: a part of a replica is none.
    return found.length === 0 ? 0 : await redis.unlink(...new Set(found))
  } finally {
    redis.disconnect()
  }
}
