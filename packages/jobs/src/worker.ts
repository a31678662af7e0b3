/**
 * Runs one definition: how outcomes are reported to BullMQ, and which errors are retried.
 */
import { backoffMs, type Clock, type Random } from '@quorumscan/base'
import { isScanError } from '@quorumscan/errors'
import type { ContractId } from '@quorumscan/model'
import { type Logger, type Metrics, type Tracer, traced } from '@quorumscan/runtime'
import { type Job, UnrecoverableError, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { type JobFailure, jobId } from './failures.ts'
import type { JobDefinition } from './job.ts'
import type { JobShares } from './job-shares.ts'
import { ATTEMPTS_MAX } from './queue.ts'
import type { Postponed } from './sweep.ts'

const MS_PER_SECOND = 1000
/** Jobs of one queue that run at the same time: each mostly waits for the log, which commits in groups. */
const CONCURRENCY = 32

/** A running job is locked for this long. Its process renews the lock every half of it. */
const LOCK_MS = 5_000
/** How often a worker looks for jobs without a lock. It runs those that it has seen running before. */
const STALLED_INTERVAL_MS = 2_000
/**
 * A job of a killed process runs again within this, counted from the kill or from the start of the next process,
 * whichever is later.
 */
export const RECOVERY_MS_MAX = LOCK_MS + STALLED_INTERVAL_MS
/** A job is dropped after this many deaths of its process; the sweep adds it again. */
const STALLED_COUNT_MAX = 10
/** BullMQ waits 15 s by default after a lost connection. */
const RUN_RETRY_MS = 500
/** How long a worker blocks for the next job. Seconds, and so is the watchdog on top of it (1 s). */
const DRAIN_DELAY_SECONDS = 2

/** After this the ledger shows the effect of a finished job, or another party has to act first. */
const POSTPONE_DONE_MS = 5_000
/** A job that can never succeed is not added again for this long. */
const POSTPONE_DROPPED_MS = 60_000

/**
 * Refusals because the ledger changed between the read and the submission of the job. The next run, at once, reads
 * again: it finds the work done, or uses the current contracts. The local replica has applied the refused entry, so its
 * state is new enough.
 */
const isStaleRefusal = (error: unknown): boolean =>
  isScanError(error, 'CONTRACT_NOT_FOUND', 'CONTRACT_CONSUMED', 'DUPLICATE_COMMAND')

/** The first wait: a few checkpoints, so that a replica that lags has caught up. */
const DELAY_MS_MIN = 250

/** The longest wait: well below the shortest payment lock in use (15 s with rounds of 5 s). */
const DELAY_MS_MAX = 5_000

/** Half of it is random: members that failed together do not retry together. `attempt` from 1. */
export function retryDelayMs(attempt: number, random: Random): number {
  const bounds = { minMs: DELAY_MS_MIN, maxMs: DELAY_MS_MAX, random: () => random.fraction() }
  return Math.floor(backoffMs(attempt, bounds))
}

/** Runs without a pause after stale refusals. After three, the ledger changes faster than this process reads it. */
const IMMEDIATE_RUNS_MAX = 3

/** Whether running the same job again later may succeed. Any other error than a ScanError is a bug, and is not retried. */
export function isWorthRetrying(error: unknown): boolean {
  return isScanError(error) && (error.spec.retryable || isStaleRefusal(error))
}

export type WorkerApp = {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

type WorkerOptions<Deps> = {
  readonly definition: JobDefinition<Deps>
  readonly deps: Deps
  readonly connection: Redis
  readonly prefix: string
  readonly postponed: Postponed
  readonly shares: Pick<JobShares, 'end'>
  readonly measured: ReturnType<typeof createRunMetrics>
  readonly signal: AbortSignal
  readonly onDropped: (failure: JobFailure) => Promise<void>
  /** Receives a lost connection, on every try to get it back. */
  readonly onError: (error: Error) => void
}

/** It does nothing before `run`. */
export function createWorker<Deps>(app: WorkerApp, options: WorkerOptions<Deps>): Worker {
  const worker = new Worker(options.definition.name, (job) => runJob(job, app, options), {
    autorun: false,
    connection: options.connection,
    prefix: options.prefix,
    concurrency: CONCURRENCY,
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_INTERVAL_MS,
    maxStalledCount: STALLED_COUNT_MAX,
    runRetryDelay: RUN_RETRY_MS,
    drainDelay: DRAIN_DELAY_SECONDS,
    settings: { backoffStrategy: (attempt) => retryDelayMs(attempt, app.random) },
  })
  worker.on('error', options.onError)
  return worker
}

async function runJob<Deps>(job: Job, { clock, logger }: WorkerApp, options: WorkerOptions<Deps>) {
  const { definition, postponed, shares, signal } = options
  const contractId = job.id ?? ''
  const key = jobId({ job: definition.name, contractId })
  let postponeMs = POSTPONE_DONE_MS
  const postponeBy = (ms: number) => {
    postponeMs = ms
  }
  try {
    for (let runs = 1; ; runs++)
      try {
        await options.measured(definition.name, contractId, () =>
          definition.process(contractId, { ...options.deps, signal, postponeBy }),
        )
        break
      } catch (error) {
        if (runs === IMMEDIATE_RUNS_MAX || !isStaleRefusal(error)) throw error
      }
    postponed.postpone(key, postponeMs)
    shares.end({ job: definition.name, contractId })
  } catch (error) {
    // Shutting down: the job stays due and the next process finds it.
    if (signal.aborted) throw error
    const isRetryable = isWorthRetrying(error)
    const attempts = job.attemptsMade + 1
    const message = error instanceof Error ? error.message : String(error)
    const what = { job: definition.name, contractId, attempts }
    if (isRetryable && attempts < ATTEMPTS_MAX) {
      logger.info({ err: error, ...what }, 'the job failed; retrying')
      throw error
    }
    logger.warn({ err: error, ...what }, 'the job failed and was dropped; see "quorumscan jobs"')
    postponed.postpone(key, isRetryable ? POSTPONE_DONE_MS : POSTPONE_DROPPED_MS)
    shares.end(what)
    const code = isScanError(error) ? error.code : 'INTERNAL'
    await options.onDropped({ ...what, code, message, at: clock.nowMicros() })
    throw new UnrecoverableError(message)
  }
}

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
