/** What a process measures of its own Redis. */
import { statfs } from 'node:fs/promises'
import { singleFlight } from '@quorumscan/base'
import type { RedisWatch } from '@quorumscan/redis'
import type { Metrics } from './metrics.ts'

/** What the process's own Redis takes, and what is left of the disk that it writes to. */
export function measureRedis(metrics: Metrics, redis: Pick<RedisWatch, 'usage'>): void {
  // What hangs is not asked again and again.
  const usage = singleFlight(() => redis.usage())
  const freeBytes = singleFlight(async () => {
    const { bavail, bsize } = await statfs((await usage()).directory)
    return bavail * bsize
  })
  const gauge = (name: string, help: string, value: () => Promise<number>): void =>
    metrics.sampled('gauge', { name, help, read: async () => [[[], await value()]] })
  gauge('redis_memory_bytes', 'Memory that Redis uses.', async () => (await usage()).memoryBytes)
  gauge(
    'redis_memory_max_bytes',
    'Memory that Redis may use; 0: there is no limit.',
    async () => (await usage()).memoryBytesMax,
  )
  gauge('redis_aof_bytes', 'Size of its append-only file.', async () => (await usage()).fileBytes)
  gauge('disk_free_bytes', 'What is left of the disk that Redis writes to.', freeBytes)
}
