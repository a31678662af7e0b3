/**
 * The last jobs that were dropped, with the reason: BullMQ keeps none, because an add with the id of a kept
 * failed job is silently ignored (Rule 7).
 */
import type { ContractId } from '@quorumscan/model'
import type { Redis } from 'ioredis'

export type JobFailure = {
  readonly job: string
  readonly contractId: ContractId
  /** An `ErrorCode`, or INTERNAL for what is no ScanError. */
  readonly code: string
  readonly message: string
  readonly attempts: number
  /** µs since the epoch by this node's clock. */
  readonly at: number
}

/** Enough to see a pattern; older ones are in the log. */
const FAILURES_MAX = 100

export async function recordFailure(redis: Redis, key: string, failure: JobFailure): Promise<void> {
  await redis
    .multi()
    .lpush(key, JSON.stringify(failure))
    .ltrim(key, 0, FAILURES_MAX - 1)
    .exec()
}

/** Newest first. */
export async function readFailures(redis: Redis, key: string): Promise<readonly JobFailure[]> {
  const rows = await redis.lrange(key, 0, FAILURES_MAX - 1)
  // The list is written by recordFailure alone.
  return rows.map((row) => JSON.parse(row) as JobFailure)
}
