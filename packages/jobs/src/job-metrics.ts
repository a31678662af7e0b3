/** The metrics of the jobs of a process. */
import type { Clock } from '@quorumscan/base'
import type { ContractId } from '@quorumscan/model'
import { type Metrics, type Tracer, traced } from '@quorumscan/runtime'
import { countsOf, type JobQueue } from './queue.ts'

const MS_PER_SECOND = 1000

/** How much work waits. The label is `queue`, because Prometheus itself sets `job`. */
export function measureQueues(
  metrics: Metrics,
  queues: readonly Pick<JobQueue, 'name' | 'counts'>[],
): void {
  metrics.sampled('gauge', {
    name: 'jobs',
    help: 'Jobs in each queue, by what they wait for.',
    labels: ['queue', 'state'],
    read: async () =>
      Object.entries(await countsOf(queues)).flatMap(([job, counts]) =>
        Object.entries(counts).map(([state, count]) => [[job, state], count] as const),
      ),
  })
}

export type MeasuredRun = ReturnType<typeof createRunMetrics>

/** Times and traces runs of jobs. */
export function createRunMetrics(
  { metrics, clock, tracer }: { metrics: Metrics; clock: Clock; tracer: Tracer | null },
  jobs: readonly { readonly name: string }[],
) {
  const durationOf = metrics.durations({
    name: 'job_duration_seconds',
    help: 'Time of one run of a job; one that failed may run again.',
    labels: ['queue', 'outcome'],
    known: jobs.flatMap(({ name }) => [
      [name, 'done'],
      [name, 'failed'],
    ]),
  })
  return async (name: string, contractId: ContractId, run: () => Promise<void>): Promise<void> => {
    const startedMs = clock.monotonicMs()
    let outcome = 'failed'
    try {
      const attributes = { 'quorumscan.contract_id': contractId }
      await traced(tracer, { kind: 'job', name, attributes }, run)
      outcome = 'done'
    } finally {
      durationOf(name, outcome).observe((clock.monotonicMs() - startedMs) / MS_PER_SECOND)
    }
  }
}
