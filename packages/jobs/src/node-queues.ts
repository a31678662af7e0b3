/** The queues of one node as its operator sees them, whether the node runs or not. */
import type { Clock } from '@quorumscan/base'
import { endConnection, type RedisAddress } from '@quorumscan/redis'
import { connectProducer } from './connection.ts'
import { createFailures, type JobFailure, jobId } from './failures.ts'
import type { JobDefinition } from './job.ts'
import { operatorJobs } from './operator-jobs.ts'
import { countsOf, createQueue, type JobCounts } from './queue.ts'
import { walletJobs } from './wallet-jobs.ts'

/** The jobs of each kind of node, and the prefix of their Redis keys, which differs from that of the replica. */
export const QUEUES_OF = {
  scan: { prefix: 'jobs', definitions: operatorJobs },
  validator: { prefix: 'wallet-jobs', definitions: walletJobs },
} as const

/** The jobs whose due work the replica of a node must report. */
export function dueJobsOf(kind: keyof typeof QUEUES_OF): readonly string[] {
  const definitions: readonly JobDefinition<never>[] = QUEUES_OF[kind].definitions
  return definitions.flatMap(({ name, due }) => (due === undefined ? name : []))
}

export type ProcessJobs = {
  readonly queues: Readonly<Record<string, JobCounts>>
  /** Dropped jobs, newest first, at most 100. */
  readonly failures: readonly JobFailure[]
}

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis does not answer. */
export async function openProcessQueues(options: {
  readonly redis: RedisAddress
  readonly kind: keyof typeof QUEUES_OF
  readonly clock: Clock
  readonly timeoutMs?: number
}) {
  const { prefix, definitions } = QUEUES_OF[options.kind]
  const onError = () => {} // The command that failed reports it.
  const producer = await connectProducer({ ...options, onError })
  const failures = createFailures(producer, prefix)
  const queues = definitions.map(({ name }) =>
    createQueue({ name, connection: producer, prefix, onError }),
  )
  return {
    async list(): Promise<ProcessJobs> {
      return { queues: await countsOf(queues), failures: await failures.list() }
    },
    /**
     * Adds a dropped job again and takes it off the list, to which it returns if it fails again.
     *
     * @returns False if the node has no such queue.
     */
    async retry(dropped: Pick<JobFailure, 'job' | 'contractId'>): Promise<boolean> {
      const queue = queues.find(({ name }) => name === dropped.job)
      // Forgotten first: the job may fail again at once, and that failure must stay listed.
      await failures.forget(jobId(dropped))
      await queue?.add([{ contractId: dropped.contractId, place: 0 }])
      return queue !== undefined
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(queues.map((queue) => queue.close()))
      endConnection(producer)
    },
  }
}
