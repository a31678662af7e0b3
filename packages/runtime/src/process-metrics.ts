/**
 * What several kinds of process measure in the same way, over the narrowest view of its source: this
 * package knows neither the replica nor the jobs.
 */
import { statfs } from 'node:fs/promises'
import type { Clock } from '@quorumscan/base'
import type { Metrics, Sample } from './metrics.ts'
import { type Tracer, traced } from './tracing.ts'

const MICROS_PER_SECOND = 1_000_000
const MS_PER_SECOND = 1000

/** Where a replica stands, and how fast it applies the log. */
export function measureReplica(
  metrics: Metrics,
  replica: {
    head(): { readonly offset: number; readonly recordTime: number }
    state(): string
    onApplied(listener: () => void): () => void
  },
  clock: Clock,
): void {
  let appliedCount = 0
  replica.onApplied(() => {
    appliedCount++
  })
  metrics.sampled('gauge', {
    name: 'replica_offset',
    help: 'Newest applied offset of the log.',
    read: () => [[[], replica.head().offset]],
  })
  metrics.sampled('gauge', {
    name: 'replica_lag_seconds',
    help: 'Age of the record time at the head by the own clock; an idle log has one every 10 s.',
    read: () => [[[], (clock.nowMicros() - replica.head().recordTime) / MICROS_PER_SECOND]],
  })
  metrics.sampled('gauge', {
    name: 'replica_live',
    help: '1 while the replica follows the log closely.',
    read: () => [[[], replica.state() === 'live' ? 1 : 0]],
  })
  metrics.sampled('counter', {
    name: 'replica_entries_total',
    help: 'Entries of the log applied since the start of the process.',
    read: () => [[[], appliedCount]],
  })
}

/** Which version of the protocol holds, which comes next, and the newest that the software knows. */
export function measureProtocol(
  metrics: Metrics,
  read: () => Promise<{
    readonly version: number
    readonly next: { readonly version: number } | null
  }>,
  newestKnown: number,
): void {
  metrics.sampled('gauge', {
    name: 'protocol_version',
    help: 'Versions of the protocol: the one that is held, the next that was voted for, the newest that the software knows.',
    labels: ['version'],
    read: async () => {
      const { version, next } = await read()
      return [
        [['held'], version],
        [['next'], next?.version ?? version],
        [['known'], newestKnown],
      ]
    },
  })
}

/** What the process's own Redis takes, and what is left of the disk that it writes to. */
export function measureRedis(
  metrics: Metrics,
  redis: {
    usage(): Promise<{
      readonly memoryBytes: number
      /** 0: there is no limit. */
      readonly memoryBytesMax: number
      readonly fileBytes: number
      /** Where it writes, as it names it. */
      readonly directory: string
    }>
  },
): void {
  const usage = shared(() => redis.usage())
  const freeBytes = shared(async () => {
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

/** Asks once for all who ask meanwhile: what hangs is not asked again and again. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | null = null
  return () => {
    asked ??= ask().finally(() => {
      asked = null
    })
    return asked
  }
}

/** How much can still be lost before something stops. */
export function measureMargins(
  metrics: Metrics,
  read: () => Iterable<readonly [kind: 'lookups' | 'registrations' | 'ordering', count: number]>,
): void {
  metrics.sampled('gauge', {
    name: 'can_lose',
    help: 'How many more super-validators can be lost before these stop; below zero, they have stopped.',
    labels: ['kind'],
    read: () => [...read()].map(([kind, count]) => [[kind], count] as const),
  })
}

/** @param isFull - Null while it is not known. */
export function measureLogRoom(metrics: Metrics, isFull: () => boolean | null): void {
  metrics.sampled('gauge', {
    name: 'log_full',
    help: '1 while the synchronizer takes nothing because the disk of the log is full.',
    read: () => {
      const value = isFull()
      return value === null ? [] : [[[], value ? 1 : 0]]
    },
  })
}

type Counts = { readonly waiting: number; readonly delayed: number; readonly active: number }

/** How much work waits. The label is none of Prometheus' own, as `job` is. */
export function measureQueues(
  metrics: Metrics,
  jobs: { counts(): Promise<ReadonlyMap<string, Counts>> },
): void {
  metrics.sampled('gauge', {
    name: 'jobs',
    help: 'Jobs in each queue, by what they wait for.',
    labels: ['queue', 'state'],
    read: async () =>
      [...(await jobs.counts())].flatMap(([job, counts]): Sample<['queue', 'state']>[] => [
        [[job, 'waiting'], counts.waiting],
        [[job, 'delayed'], counts.delayed],
        [[job, 'active'], counts.active],
      ]),
  })
}

/** The same definitions, each of whose runs is timed, and traced. */
export function measureJobs<
  Definition extends {
    readonly name: string
    // Bivariant on purpose: the dependencies are the business of the definition.
    process(contractId: never, deps: never): Promise<void>
  },
>(
  { metrics, clock, tracer }: { metrics: Metrics; clock: Clock; tracer: Tracer | null },
  definitions: readonly Definition[],
): readonly Definition[] {
  const durationOf = metrics.durations({
    name: 'job_duration_seconds',
    help: 'Time of one run of a job; one that failed may run again.',
    labels: ['queue', 'outcome'],
    known: definitions.flatMap(({ name }) => [
      [name, 'done'],
      [name, 'failed'],
    ]),
  })
  return definitions.map((definition) => ({
    ...definition,
    async process(contractId: never, deps: never) {
      const startedMs = clock.monotonicMs()
      let outcome = 'failed'
      try {
        const attributes = { 'quorumscan.contract_id': String(contractId) }
        await traced(tracer, { kind: 'job', name: definition.name, attributes }, () =>
          definition.process(contractId, deps),
        )
        outcome = 'done'
      } finally {
        const seconds = (clock.monotonicMs() - startedMs) / MS_PER_SECOND
        durationOf(definition.name, outcome).observe(seconds)
      }
    },
  }))
}
