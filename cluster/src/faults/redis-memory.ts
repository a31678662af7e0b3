/** A Redis that is full: it answers reads and refuses writes (`noeviction`). */
import { createConnection } from '@quorumscan/redis'

/** Less than an empty Redis takes. */
const BYTES_MAX = '1'
const NO_LIMIT = '0'
const COMMAND_TIMEOUT_MS = 3000

/** Switches it at run time; a Redis that is started again has room. */
export async function limitMemory(socketPath: string, isFull: boolean): Promise<void> {
  const redis = createConnection(
    { path: socketPath },
    { commandTimeoutMs: COMMAND_TIMEOUT_MS, reconnect: null },
  )
  try {
    await redis.config('SET', 'maxmemory', isFull ? BYTES_MAX : NO_LIMIT)
  } finally {
    redis.disconnect()
  }
}
