/** What a process measures of its jobs. */
import type { Clock } from '@quorumscan/base'
import type { ContractId } from '@quorumscan/model'
import { type Metrics, type Sample, type Tracer, traced } from '@quorumscan/runtime'
import type { JobDefinition } from './job.ts'
import type { Jobs } from './jobs.ts'

const MS_PER_SECOND = 1000

/** How much work waits. The label is none of Prometheus' own, as `job` is. */
export function measureQueues(metrics: Metrics, jobs: Pick<Jobs, 'counts'>): void {
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
  // Bivariant on purpose: the dependencies are the business of the definition.
  Definition extends Pick<JobDefinition<never>, 'name' | 'process'>,
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
    async process(contractId: ContractId, deps: never) {
      const startedMs = clock.monotonicMs()
      let outcome = 'failed'
      try {
        const attributes = { 'quorumscan.contract_id': contractId }
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
