/** How full the memory of a process's own Redis is, and when it will be full at the present rate. */
import type { Clock } from '@quorumscan/base'
import { FULL_SHARE, type RedisWatch, WARNING_SHARE } from '@quorumscan/redis'
import type { Metrics } from './metrics.ts'
import { repeat } from './repeat.ts'

/** A command of Redis of well under a millisecond. */
const MEASURE_MS = 1000
/** Times for the rate: the last day. The clean-up of a replica and the trimming of the log return within it. */
const SAMPLE_MS = 600_000
const SAMPLES_MAX = 145
const DAY_MS = 86_400_000
const MIB = 2 ** 20

/** On the answer of `/livez`: how much of the memory of its Redis a process uses, in thousandths. */
export const MEMORY_HEADER = 'x-memory'

/** Memory of a Redis that has a limit. */
export type MemoryUse = { readonly usedBytes: number; readonly maxBytes: number }

export type RedisMemory = Awaited<ReturnType<typeof watchRedisMemory>>

/** Resolves after the first measurement, also if it fails. */
export async function watchRedisMemory(options: {
  readonly redis: Pick<RedisWatch, 'usage'>
  readonly clock: Clock
  readonly metrics: Metrics
  /** Default: a second. */
  readonly everyMs?: number
}) {
  const { redis, clock, everyMs = MEASURE_MS } = options
  let last: MemoryUse | null = null
  const samples: { readonly atMs: number; readonly usedBytes: number }[] = []

  const measure = async (): Promise<void> => {
    const { memoryBytes: usedBytes, memoryBytesMax: maxBytes } = await redis.usage()
    last = maxBytes > 0 ? { usedBytes, maxBytes } : null
    const atMs = clock.monotonicMs()
    if (atMs - (samples.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY) < SAMPLE_MS) return
    samples.push({ atMs, usedBytes })
    if (samples.length > SAMPLES_MAX) samples.shift()
  }
  // The metrics of a Redis that does not answer are missing, and its owner reports the reason.
  const ignore = () => {}
  await measure().catch(ignore)
  const measuring = repeat(measure, {
    clock,
    everyMs,
    waitsFirst: true,
    onError: ignore,
  })

  const share = (): number | null => last && last.usedBytes / last.maxBytes

  /** Days until the log accepts no entry that adds; null: the memory does not grow, or the rate is not known yet. */
  const daysLeft = (): number | null => {
    if (last === null) return null
    const leftBytes = FULL_SHARE * last.maxBytes - last.usedBytes
    if (leftBytes <= 0) return 0
    const [oldest] = samples
    const elapsedMs = clock.monotonicMs() - (oldest?.atMs ?? Number.POSITIVE_INFINITY)
    if (oldest === undefined || elapsedMs < SAMPLE_MS) return null
    const grownBytes = last.usedBytes - oldest.usedBytes
    return grownBytes <= 0 ? null : (leftBytes / grownBytes) * (elapsedMs / DAY_MS)
  }

  options.metrics.sampled('gauge', {
    name: 'redis_days_left',
    help: 'Days until the log accepts no entry that adds, because the memory of this Redis is full, at the rate of the last day; missing while it does not grow.',
    read: () => {
      const days = daysLeft()
      return days === null ? [] : [[[], days]]
    },
  })

  return {
    /** The newest measurement; null: there is none yet, or no limit. */
    use: (): MemoryUse | null => last,
    share,
    /** For `/status`; null as `use`. */
    report: () => last && { ...last, daysLeft: daysLeft() },
    /** What an operator must know; null: there is enough. */
    detail(): string | null {
      const used = share()
      return last === null || used === null || used < WARNING_SHARE
        ? null
        : `the memory of its Redis is full to ${describeMemory(last, daysLeft())}`
    },
    [Symbol.asyncDispose]: () => measuring[Symbol.asyncDispose](),
  }
}

/** `84 % of 1024 MiB, 3 days are left at the present rate`. */
export function describeMemory({ usedBytes, maxBytes }: MemoryUse, daysLeft: number | null) {
  const used = `${Math.floor((100 * usedBytes) / maxBytes)} % of ${Math.floor(maxBytes / MIB)} MiB`
  if (daysLeft === null) return used
  return `${used}, ${daysLeft < 10 ? daysLeft.toFixed(1) : Math.floor(daysLeft)} days are left at the present rate`
}
