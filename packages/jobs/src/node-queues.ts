/** The queues of one node as its operator sees them, whether the node runs or not. */
import type { Clock } from '@quorumscan/base'
import { endConnection, type RedisAddress } from '@quorumscan/redis'
import { connectProducer } from './connection.ts'
import { forgetFailure, type JobFailure, jobId, readFailures } from './failures.ts'
import { operatorJobs } from './operator-jobs.ts'
import { createQueue, type JobCounts } from './queue.ts'
import { walletJobs } from './wallet-jobs.ts'

/** By kind of node: the prefix of its keys, apart from that of the replica in the same Redis, and its jobs. */
export const QUEUES_OF = {
  scan: { prefix: 'jobs', names: operatorJobs.map(({ name }) => name) },
  validator: { prefix: 'wallet-jobs', names: walletJobs.map(({ name }) => name) },
} as const

export type NodeJobs = {
  readonly queues: Readonly<Record<string, JobCounts>>
  /** Dropped jobs, newest first, at most 100. */
  readonly failures: readonly JobFailure[]
}

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis does not answer. */
export async function openNodeQueues(options: {
  readonly redis: RedisAddress
  readonly kind: keyof typeof QUEUES_OF
  readonly clock: Clock
  readonly timeoutMs?: number
}) {
  const { prefix, names } = QUEUES_OF[options.kind]
  const onError = () => {} // The command that failed reports it.
  const producer = await connectProducer({ ...options, onError })
  const queues = names.map((name) => createQueue({ name, connection: producer, prefix, onError }))
  return {
    async list(): Promise<NodeJobs> {
      const counts = queues.map(async (queue) => [queue.name, await queue.counts()] as const)
      const failures = await readFailures(producer, prefix)
      return { queues: Object.fromEntries(await Promise.all(counts)), failures }
    },
    /**
     * Adds a dropped job again and takes it off the list, to which it returns if it fails again.
     *
     * @returns False if the node has no such queue.
     */
    async retry(dropped: Pick<JobFailure, 'job' | 'contractId'>): Promise<boolean> {
      const queue = queues.find(({ name }) => name === dropped.job)
      await queue?.add([dropped.contractId])
      await forgetFailure(producer, prefix, jobId(dropped))
      return queue !== undefined
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(queues.map((queue) => queue.close()))
      endConnection(producer)
    },
  }
}
