/** A Redis that is full: it answers reads and refuses writes (`noeviction`). */
import { openRedis } from '@quorumscan/redis'

/** Less than an empty Redis takes. */
const BYTES_MAX = '1'
const NO_LIMIT = '0'

/** Switches it at run time; a Redis that is started again has room. */
export async function limitMemory(socketPath: string, isFull: boolean): Promise<void> {
  const redis = openRedis({ path: socketPath }, 'settings')
  try {
    await redis.config('SET', 'maxmemory', isFull ? BYTES_MAX : NO_LIMIT)
  } finally {
    redis.disconnect()
  }
}
