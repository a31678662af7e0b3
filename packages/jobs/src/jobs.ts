/** Owns the queues, the workers and the sweep of one process. */
import { type Clock, type Random, within } from '@quorumscan/base'
import { type AppliedEntry, dueOf, type Ledger } from '@quorumscan/ledger'
import type { ContractId } from '@quorumscan/model'
import type { RedisAddress } from '@quorumscan/redis'
import type { Worker } from 'bullmq'
import { connectJobs, type JobConnections, untilDone } from './connection.ts'
import { type JobFailure, readFailures, recordFailure } from './failures.ts'
import type { JobDefinition, JobLog } from './job.ts'
import { createPostponed } from './postponed.ts'
import { createQueue, type JobQueue, type Member } from './queue.ts'
import { createSweep, type Sweep } from './sweep.ts'
import { startWorker } from './worker.ts'

/** Apart from the prefix of the replica in the same Redis. */
const PREFIX_DEFAULT = 'jobs'
/** How long something due may wait when no event told of it (Rule 7). */
const SWEEP_MS = 1_000
/** Contracts that are left alone for a moment; some MiB. */
const POSTPONED_MAX = 20_000
/** Running jobs, which are aborted, get this long to end; they stay due. */
const CLOSE_MS_MAX = 2_000

export type JobsOptions<Deps> = {
  /** Unix socket of the node's own Redis. */
  readonly redis: RedisAddress
  readonly prefix?: string
  readonly definitions: readonly JobDefinition<Deps>[]
  readonly deps: Deps
  readonly ledger: Ledger
  /** False while the replica catches up: acting on an old state only makes refusals. */
  readonly isLive: () => boolean
  readonly member: Member
  readonly clock: Clock
  readonly random: Random
  readonly log: JobLog
}

export type JobCounts = {
  readonly waiting: number
  readonly delayed: number
  readonly active: number
}

/**
 * The automation of one process. Whatever is lost here, Redis with all queues included, comes back from
 * the ledger's due items within a sweep.
 */
export class Jobs {
  readonly #connections: JobConnections
  readonly #queues: ReadonlyMap<string, JobQueue>
  readonly #workers: readonly Worker[]
  readonly #running = new Set<Promise<void>>()
  readonly #closing: AbortController
  readonly #clock: Clock
  readonly #failuresKey: string
  readonly #stopListening: () => void
  readonly #sweeping: Promise<void>

  /**
   * Starts with empty queues, so that a job which a killed process held need not wait for its lock to end.
   *
   * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis does not come up in 10 s, or may evict keys.
   */
  static async create<Deps>(options: JobsOptions<Deps>): Promise<Jobs> {
    const { clock, log } = options
    const prefix = options.prefix ?? PREFIX_DEFAULT
    const onError = createQuietReporter(clock, log)
    const connections = await connectJobs({ redis: options.redis, clock, onError })
    try {
      const queues = new Map(
        options.definitions.map((definition) => [
          definition.name,
          createQueue({
            definition,
            connection: connections.producer,
            prefix,
            member: options.member,
            onError,
          }),
        ]),
      )
      for (const queue of queues.values()) await untilDone(() => queue.clear(), clock)
      return new Jobs({ ...options, connections, queues, prefix, onError })
    } catch (error) {
      connections.disconnect()
      throw error
    }
  }

  private constructor(
    options: JobsOptions<unknown> & {
      connections: JobConnections
      queues: ReadonlyMap<string, JobQueue>
      prefix: string
      onError: (error: Error) => void
    },
  ) {
    const { clock, log, connections, queues, prefix, onError } = options
    this.#connections = connections
    this.#queues = queues
    this.#clock = clock
    this.#closing = new AbortController()
    this.#failuresKey = `${prefix}:failures`
    const postponed = createPostponed(clock, POSTPONED_MAX)
    // A Redis that was away may have lost its last seconds, queued jobs included.
    connections.producer.on('ready', () => postponed.clear())
    this.#workers = options.definitions.map((definition) =>
      startWorker({
        definition,
        deps: options.deps,
        connection: connections.worker,
        prefix,
        postponed,
        clock,
        random: options.random,
        log,
        signal: this.#closing.signal,
        running: this.#running,
        onError,
        onDropped: (failure) =>
          recordFailure(connections.producer, this.#failuresKey, failure).catch((error) =>
            log.warn({ err: error, ...failure }, 'job failure not recorded'),
          ),
      }),
    )
    const definitions = new Map(options.definitions.map((each) => [each.name, each]))
    const sweep = createSweep({
      ledger: options.ledger,
      queues,
      postponed,
      clock,
      select: async (job, contractIds) =>
        (await definitions.get(job)?.select?.(contractIds, options.deps)) ?? contractIds,
    })
    this.#stopListening = listen(options, sweep)
    this.#sweeping = this.#sweep(options, sweep)
  }

  /** The last dropped jobs, newest first, at most 100. */
  failures(): Promise<readonly JobFailure[]> {
    return readFailures(this.#connections.producer, this.#failuresKey)
  }

  /** What is in each queue now. */
  async counts(): Promise<ReadonlyMap<string, JobCounts>> {
    return new Map(
      await Promise.all(
        [...this.#queues].map(async ([name, queue]) => [name, await queue.counts()] as const),
      ),
    )
  }

  /** Adds a job again, though it was dropped a moment ago; false if there is no such queue. */
  async retry(job: string, contractId: ContractId): Promise<boolean> {
    const queue = this.#queues.get(job)
    await queue?.add([contractId])
    return queue !== undefined
  }

  /** Aborts running jobs and waits for them, at most 2 s. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening()
    this.#closing.abort(new Error('the process stops'))
    await this.#sweeping
    const bound = { clock: this.#clock, timeoutMs: CLOSE_MS_MAX }
    await within(
      bound,
      () => Promise.allSettled(this.#running),
      () => {},
    )
    // By force: otherwise BullMQ waits for ever where Redis is away. What it would have written about the
    // last runs is of no use, as the next process starts with empty queues.
    await Promise.allSettled(this.#workers.map((worker) => worker.close(true)))
    await Promise.allSettled([...this.#queues.values()].map((queue) => queue.close()))
    this.#connections.disconnect()
  }

  async #sweep(options: JobsOptions<unknown>, sweep: Sweep): Promise<void> {
    const signal = this.#closing.signal
    while (!signal.aborted) {
      if (options.isLive())
        await sweep.tick().catch((error) => options.log.warn({ err: error }, 'sweep'))
      await this.#clock.delay(SWEEP_MS, signal).catch(() => {}) // Aborted: the loop ends.
    }
  }
}

/** Adds what an applied entry made due, without holding up the ingest loop that calls back. */
function listen(options: JobsOptions<unknown>, sweep: Sweep): () => void {
  let isFlushing = false
  const flush = async () => {
    if (isFlushing) return
    isFlushing = true
    try {
      await sweep.flush()
    } catch (error) {
      options.log.info({ err: error }, 'jobs not added at once, the sweep will')
    } finally {
      isFlushing = false
    }
  }
  return options.ledger.onApplied((entry: AppliedEntry) => {
    if (!options.isLive()) return
    const due = entry.created.flatMap(dueOf).filter((item) => item.at <= entry.recordTime)
    if (due.length === 0) return
    sweep.offer(due)
    void flush()
  })
}

/** Lost connections report on every try; one line a second is enough. */
function createQuietReporter(clock: Clock, log: JobLog): (error: Error) => void {
  let quietUntilMs = Number.NEGATIVE_INFINITY
  return (error) => {
    if (clock.monotonicMs() < quietUntilMs) return
    quietUntilMs = clock.monotonicMs() + 1_000
    log.warn({ err: error }, 'Redis of the job queues')
  }
}
