/** Redis memory of a replica per live name, by key. */
import type { Redis } from 'ioredis'

/** Keys of the state of live names and its indexes. Other keys contain history, or records of the last day. */
const STATE_KEYS = ['names', 'lex', 'parties', 'contracts', 'index', 'totals', 'due']
const KEY_PREFIX = '{replica}:'

export type MemoryUse = {
  /** Bytes per name of entry, context, subscription, idle state and their indexes. */
  readonly bytesPerName: number
  /** Bytes per name of every key. */
  readonly byKey: ReadonlyMap<string, number>
}

/**
 * The memory by Redis's own count of every element of every key. It contains no coins, because the data set spends all
 * of them.
 */
export async function measureMemory(redis: Redis, nameCount: number): Promise<MemoryUse> {
  const keys = await redis.keys(`${KEY_PREFIX}*`)
  const sizes = new Map<string, number>()
  for (const key of keys) {
    const bytes = (await redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0
    // Buckets, and the sets of a job, are parts of one key.
    const whole = key.slice(KEY_PREFIX.length).split(':')[0] ?? ''
    sizes.set(whole, (sizes.get(whole) ?? 0) + bytes / nameCount)
  }
  const byKey = new Map([...sizes].sort((a, b) => b[1] - a[1]))
  const bytesPerName = STATE_KEYS.reduce((sum, key) => sum + (byKey.get(key) ?? 0), 0)
  return { bytesPerName, byKey }
}
