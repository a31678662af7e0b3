/** What a replica takes in Redis for each live name, key by key. */
import type { Redis } from 'ioredis'

/** The state of live names and what finds it; the other keys hold history, or records of the last day. */
const STATE_KEYS = ['names', 'lex', 'parties', 'contracts', 'index', 'due']
const KEY_PREFIX = '{replica}:'

export type MemoryUse = {
  /** Entry, context, subscription, idle state and their indexes, bytes a name. */
  readonly bytesPerName: number
  /** Bytes a name of every key. */
  readonly byKey: ReadonlyMap<string, number>
}

/**
 * As Redis itself counts, every element of every key. Coins are not in it where each was spent to the last
 * digit, as the data set does.
 */
export async function measureMemory(redis: Redis, nameCount: number): Promise<MemoryUse> {
  const keys = await redis.keys(`${KEY_PREFIX}*`)
  const sizes = new Map<string, number>()
  for (const key of keys) {
    const bytes = (await redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0
    // Buckets, and sets of a job, are parts of one whole.
    const whole = key.slice(KEY_PREFIX.length).split(':')[0] ?? ''
    sizes.set(whole, (sizes.get(whole) ?? 0) + bytes / nameCount)
  }
  const byKey = new Map([...sizes].sort((a, b) => b[1] - a[1]))
  const bytesPerName = STATE_KEYS.reduce((sum, key) => sum + (byKey.get(key) ?? 0), 0)
  return { bytesPerName, byKey }
}
