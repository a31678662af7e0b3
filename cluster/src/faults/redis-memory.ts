/** A Redis that is full: it answers reads and refuses writes (`noeviction`). */
import { Redis } from 'ioredis'

/** Less than an empty Redis takes. */
const BYTES_MAX = '1'
const NO_LIMIT = '0'
const COMMAND_TIMEOUT_MS = 3000

/** Switches it at run time; a Redis that is started again has room. */
export async function limitMemory(socketPath: string, isFull: boolean): Promise<void> {
  const redis = new Redis({
    path: socketPath,
    commandTimeout: COMMAND_TIMEOUT_MS,
    maxRetriesPerRequest: 1,
  })
  redis.on('error', () => {}) // The command below fails with it.
  try {
    await redis.config('SET', 'maxmemory', isFull ? BYTES_MAX : NO_LIMIT)
  } finally {
    redis.disconnect()
  }
}
