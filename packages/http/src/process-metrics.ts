/**
 * What several kinds of process measure in the same way, over the narrowest view of its source: this
 * package knows neither the replica nor the jobs.
 */
import type { Clock } from '@quorumscan/base'
import type { Metrics, Sample } from './metrics.ts'

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

type Counts = { readonly waiting: number; readonly delayed: number; readonly active: number }

/** How much work waits. */
export function measureQueues(
  metrics: Metrics,
  jobs: { counts(): Promise<ReadonlyMap<string, Counts>> },
): void {
  metrics.sampled('gauge', {
    name: 'jobs',
    help: 'Jobs in each queue, by what they wait for.',
    labels: ['job', 'state'],
    read: async () =>
      [...(await jobs.counts())].flatMap(([job, counts]): Sample[] => [
        [[job, 'waiting'], counts.waiting],
        [[job, 'delayed'], counts.delayed],
        [[job, 'active'], counts.active],
      ]),
  })
}

/** The same definitions, each of whose runs is timed. */
export function timeJobs<
  Definition extends {
    readonly name: string
    // Bivariant on purpose: the dependencies are the business of the definition.
    process(contractId: never, deps: never): Promise<void>
  },
>(metrics: Metrics, clock: Clock, definitions: readonly Definition[]): readonly Definition[] {
  const durationOf = metrics.durations({
    name: 'job_duration_seconds',
    help: 'Time of one run of a job; one that failed may run again.',
    labels: ['job', 'outcome'],
  })
  return definitions.map((definition) => ({
    ...definition,
    async process(contractId: never, deps: never) {
      const startedMs = clock.monotonicMs()
      let outcome = 'failed'
      try {
        await definition.process(contractId, deps)
        outcome = 'done'
      } finally {
        const seconds = (clock.monotonicMs() - startedMs) / MS_PER_SECOND
        durationOf(definition.name, outcome).observe(seconds)
      }
    },
  }))
}
