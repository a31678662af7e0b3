/** The adding side of one job's queue. */
import type { ContractId } from '@quorumscan/model'
import type { Metrics } from '@quorumscan/runtime'
import { Queue } from 'bullmq'
import type { Redis } from 'ioredis'

/** Attempts of one job before it is dropped. The sweep adds it again if it is still due then. */
export const ATTEMPTS_MAX = 8
/** Events of a queue that BullMQ keeps in a stream; nothing reads them. */
const EVENTS_MAX = 100

/** The delay of each next member for a job that one member is enough for. */
const MEMBER_DELAY_MS = 1_500

/** The place of a job among those of its owner, from 0. */
type PlacedJob = { readonly contractId: ContractId; readonly place: number }

export type JobQueue = ReturnType<typeof createQueue>
export type JobCounts = Awaited<ReturnType<JobQueue['counts']>>

/** The position of this process among those that run the same jobs. */
export type TurnOrder = { readonly index: number; readonly count: number }

export function createQueue(options: {
  readonly name: string
  readonly connection: Redis
  readonly prefix: string
  /** The delay of a job; 0 unless given. */
  readonly delayMsOf?: (contractId: ContractId) => number
  readonly onError: (error: Error) => void
}) {
  const { name, delayMsOf = () => 0 } = options
  const queue = new Queue(name, {
    connection: options.connection,
    prefix: options.prefix,
    // The version check is a command whose failure would leave the queue unusable for good.
    skipVersionCheck: true,
    streams: { events: { maxLen: EVENTS_MAX } },
    defaultJobOptions: {
      attempts: ATTEMPTS_MAX,
      backoff: { type: 'custom' },
      // Rule 7: an add with the id of a kept job is silently ignored.
      removeOnComplete: true,
      removeOnFail: true,
      stackTraceLimit: 0,
    },
  })
  queue.on('error', options.onError)
  return {
    name,
    /**
     * Adds what is not there; an id that is queued, delayed or running is left as it is. Jobs run in the order of their
     * places (`job-shares.ts`).
     */
    async add(jobs: readonly PlacedJob[]): Promise<void> {
      await queue.addBulk(
        jobs.map(({ contractId: jobId, place }) => {
          // Those without a priority go first, then the least one.
          const opts = { jobId, delay: delayMsOf(jobId), priority: place }
          return { name, data: null, opts }
        }),
      )
    },
    async counts() {
      const states = ['wait', 'prioritized', 'delayed', 'active'] as const
      const found = await queue.getJobCounts(...states)
      const { wait = 0, prioritized = 0, delayed = 0, active = 0 } = found
      return { waiting: wait + prioritized, delayed, active }
    },
    close: () => queue.close(),
  }
}

/** Different contracts start with different members, so that all of them share the work. */
export function memberDelayMs(contractId: ContractId, turn: TurnOrder): number {
  // The id ends in hex digits of a hash.
  const first = Number.parseInt(contractId.slice(-6), 16)
  return ((first + turn.index) % turn.count) * MEMBER_DELAY_MS
}

/** The jobs in each queue now, by the name of the queue. */
export async function countsOf(queues: readonly Pick<JobQueue, 'name' | 'counts'>[]) {
  const counting = queues.map(async (queue) => [queue.name, await queue.counts()] as const)
  return Object.fromEntries(await Promise.all(counting))
}

/** How much work each queue has. The label is `queue`, because Prometheus itself sets `job`. */
export function measureQueues(
  metrics: Metrics,
  queues: readonly Pick<JobQueue, 'name' | 'counts'>[],
): void {
  metrics.sampled('gauge', {
    name: 'jobs',
    help: 'Jobs in each queue, by state.',
    labels: ['queue', 'state'],
    read: async () =>
      Object.entries(await countsOf(queues)).flatMap(([job, counts]) =>
        Object.entries(counts).map(([state, count]) => [[job, state], count] as const),
      ),
  })
}
