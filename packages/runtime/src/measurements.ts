/** Measurements that several kinds of processes share: of their own Redis, and of the fault tolerance left. */
import { statfs } from 'node:fs/promises'
import { singleFlight } from '@quorumscan/base'
import type { RedisWatch } from '@quorumscan/redis'
import type { Metrics } from './metrics.ts'

/** Memory and files of the process's own Redis, and the free space of its disk. */
export function measureRedis(metrics: Metrics, redis: Pick<RedisWatch, 'usage'>): void {
  // While a call hangs, no second call is made.
  const usage = singleFlight(() => redis.usage())
  const freeBytes = singleFlight(async () => {
    const { bavail, bsize } = await statfs((await usage()).directory)
    return bavail * bsize
  })
  const gauge = (name: string, help: string, value: () => Promise<number>): void =>
    metrics.sampled('gauge', { name, help, read: async () => [[[], await value()]] })
  gauge('redis_memory_bytes', 'Memory that Redis uses.', async () => (await usage()).memoryBytes)
  const memoryMax = async () => (await usage()).memoryBytesMax
  gauge('redis_memory_max_bytes', 'Memory that Redis may use; 0: there is no limit.', memoryMax)
  gauge('redis_aof_bytes', 'Size of its append-only file.', async () => (await usage()).fileBytes)
  gauge('disk_free_bytes', 'Free space of the disk that Redis writes to.', freeBytes)
}

/** How many failures are tolerated before something stops. */
export function measureFailuresTolerated(
  metrics: Metrics,
  read: () => Iterable<readonly [kind: 'lookups' | 'registrations' | 'ordering', count: number]>,
): void {
  metrics.sampled('gauge', {
    name: 'can_lose',
    help: 'How many further failures of super-validators these tolerate; below zero, they have stopped.',
    labels: ['kind'],
    read: () => [...read()].map(([kind, count]) => [[kind], count] as const),
  })
}
