/**
 * The last jobs that were dropped, with the reason. BullMQ keeps none, because it ignores an add with the id of a kept
 * failed job (Rule 7), and deduplicates no job that is retried (D-99).
 */
import type { ContractId } from '@quorumscan/model'
import type { Redis } from 'ioredis'

export type JobFailure = {
  readonly job: string
  readonly contractId: ContractId
  /** An `ErrorCode`, or INTERNAL for any other error. */
  readonly code: string
  readonly message: string
  readonly attempts: number
  /** When it failed: µs since the epoch by this node's clock. */
  readonly at: number
}

/** Enough to see a pattern. Older failures are in the node's log. */
const FAILURES_MAX = 100

/** @param prefix - Of the keys of the node's queues. */
export function createFailures(redis: Redis, prefix: string) {
  const key = `${prefix}:failures`
  const readRows = async (): Promise<readonly [JobFailure, string][]> => {
    const rows = await redis.lrange(key, 0, FAILURES_MAX - 1)
    // Only `record` writes the list.
    return rows.map((row) => [JSON.parse(row) as JobFailure, row])
  }
  return {
    async record(failure: JobFailure): Promise<void> {
      const row = JSON.stringify(failure)
      await redis
        .multi()
        .lpush(key, row)
        .ltrim(key, 0, FAILURES_MAX - 1)
        .exec()
    },
    /** Newest first. A job that failed several times is listed once. */
    async list(): Promise<readonly JobFailure[]> {
      const newestById = new Map<string, JobFailure>()
      for (const [failure] of await readRows())
        if (!newestById.has(jobId(failure))) newestById.set(jobId(failure), failure)
      return [...newestById.values()]
    },
    /** Removes all failures of one job from the list. */
    async forget(id: string): Promise<void> {
      for (const [failure, row] of await readRows())
        if (jobId(failure) === id) await redis.lrem(key, 0, row)
    },
  }
}

/** The name of a job, for operators and for the list of postponed jobs. */
export function jobId({ job, contractId }: Pick<JobFailure, 'job' | 'contractId'>): string {
  return `${job}/${contractId}`
}
