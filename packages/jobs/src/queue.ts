/** The adding side of one job's queue. */
import type { ContractId } from '@quorumscan/model'
import { type JobsOptions, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { ATTEMPTS_MAX } from './backoff.ts'

/** Events of a queue that BullMQ keeps in a stream; nothing reads them. */
const EVENTS_MAX = 100

/** How much later each next member takes up a job that the work of one is enough for. */
const TURN_MS = 1_500

export type JobCounts = {
  readonly waiting: number
  readonly delayed: number
  readonly active: number
}

export type JobQueue = {
  readonly name: string
  /** Adds what is not there; an id that is queued, delayed or running is left as it is. */
  add(contractIds: readonly ContractId[]): Promise<void>
  counts(): Promise<JobCounts>
  close(): Promise<void>
}

/** This process's place among those that run the same automation. */
export type Member = { readonly index: number; readonly count: number }

export function createQueue(options: {
  readonly name: string
  readonly connection: Redis
  readonly prefix: string
  /** How long a job waits for its turn; 0 unless given. */
  readonly delayMsOf?: (contractId: ContractId) => number
  readonly onError: (error: Error) => void
}): JobQueue {
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
    async add(contractIds) {
      await queue.addBulk(
        contractIds.map((contractId) => {
          const opts: JobsOptions = { jobId: contractId }
          const delay = delayMsOf(contractId)
          if (delay > 0) opts.delay = delay
          return { name, data: null, opts }
        }),
      )
    },
    async counts() {
      const counts = await queue.getJobCounts('wait', 'delayed', 'active')
      return {
        waiting: counts['wait'] ?? 0,
        delayed: counts['delayed'] ?? 0,
        active: counts['active'] ?? 0,
      }
    },
    close: () => queue.close(),
  }
}

/** Different contracts start with different members, so that all of them share the work. */
export function turnMs(contractId: ContractId, member: Member): number {
  // The id ends in hex digits of a hash.
  const first = Number.parseInt(contractId.slice(-6), 16)
  return ((first + member.index) % member.count) * TURN_MS
}
