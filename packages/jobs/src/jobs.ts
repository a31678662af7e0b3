/** Owns the queues, the workers and the sweep of one process. */
import { type Clock, type Random, within } from '@quorumscan/base'
import { type AppliedEntry, dueOf, type Ledger } from '@quorumscan/ledger'
import { endConnection, type RedisAddress } from '@quorumscan/redis'
import { type Logger, quiet, repeat } from '@quorumscan/runtime'
import type { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { connectProducer, connectWorkers } from './connection.ts'
import { recordFailure } from './failures.ts'
import type { JobDefinition } from './job.ts'
import { createQueue, type JobCounts, type JobQueue, type Member, turnMs } from './queue.ts'
import { createPostponed, createSweep, type Sweep } from './sweep.ts'
import { createWorker } from './worker.ts'

/** How long something due may wait when no event announced it (Rule 7). */
const SWEEP_MS = 1_000
/** Contracts that are left alone for a moment; some MiB. */
const POSTPONED_MAX = 20_000
/** Running jobs, which are aborted, get this long to end; they stay queued. */
const CLOSE_MS_MAX = 2_000

export type JobsOptions<Deps> = {
  /** Unix socket of the node's own Redis. */
  readonly redis: RedisAddress
  /** Of its keys (`QUEUES_OF`). */
  readonly prefix: string
  readonly definitions: readonly JobDefinition<Deps>[]
  readonly deps: Deps
  readonly ledger: Ledger
  /** False while the replica catches up: acting on an old state only makes refusals. */
  readonly isLive: () => boolean
  readonly member: Member
  readonly clock: Clock
  readonly random: Random
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/**
 * The automation of one process. What is queued stays there when the process ends: the next one runs it, and what a
 * killed process was running, within `RECOVERY_MS_MAX`. If Redis loses its queues, a sweep fills them again from the
 * ledger's due items.
 */
export class Jobs implements AsyncDisposable {
  readonly #producer: Redis
  readonly #workerConnection: ReturnType<typeof connectWorkers>
  readonly #queues: ReadonlyMap<string, JobQueue>
  readonly #workers: readonly Worker[]
  readonly #closing = new AbortController()
  readonly #clock: Clock
  readonly #stopListening: () => void
  readonly #sweeping: Promise<void>

  /** @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis does not come up in 10 s, or may evict keys. */
  static async create<Deps>(options: JobsOptions<Deps>): Promise<Jobs> {
    // Lost connections report on every try; one line a second is enough.
    const lines = quiet({ clock: options.clock, perSubjectMs: 1_000 })
    const onError = (error: Error) =>
      lines.write('redis', (leftOut) =>
        options.log.warn({ err: error, ...leftOut }, 'Redis of the job queues'),
      )
    return new Jobs(options, await connectProducer({ ...options, onError }), onError)
  }

  private constructor(
    options: JobsOptions<unknown>,
    producer: Redis,
    onError: (error: Error) => void,
  ) {
    const { clock, log, prefix, definitions, deps, member } = options
    this.#producer = producer
    this.#workerConnection = connectWorkers({ ...options, onError })
    this.#clock = clock
    this.#queues = new Map(
      definitions.map(({ name, share }) => {
        const delayMsOf = share === 'one' ? (id: string) => turnMs(id, member) : () => 0
        return [name, createQueue({ name, connection: producer, prefix, delayMsOf, onError })]
      }),
    )
    const postponed = createPostponed(clock, POSTPONED_MAX)
    // A Redis that was away may have lost its last seconds, queued jobs included.
    producer.on('ready', () => postponed.clear())
    this.#workers = definitions.map((definition) =>
      createWorker({
        definition,
        deps,
        connection: this.#workerConnection.client,
        prefix,
        postponed,
        clock,
        random: options.random,
        log,
        signal: this.#closing.signal,
        onError,
        onDropped: (failure) =>
          recordFailure(producer, prefix, failure).catch((error) =>
            log.warn({ err: error, ...failure }, 'job failure not recorded'),
          ),
      }),
    )
    const definitionByName = new Map(definitions.map((each) => [each.name, each]))
    const sweep = createSweep({
      ledger: options.ledger,
      queues: this.#queues,
      postponed,
      clock,
      select: async (job, contractIds) =>
        (await definitionByName.get(job)?.select?.(contractIds, deps)) ?? contractIds,
    })
    this.#stopListening = listen(options, sweep)
    this.#sweeping = this.#sweep(options, sweep, onError)
  }

  /** What is in each queue now. */
  async counts(): Promise<ReadonlyMap<string, JobCounts>> {
    const counting = [...this.#queues].map(
      async ([name, queue]) => [name, await queue.counts()] as const,
    )
    return new Map(await Promise.all(counting))
  }

  /** Aborts running jobs and waits for them, at most 2 s. They stay queued for the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening()
    this.#closing.abort(new Error('the process stops'))
    await this.#sweeping
    const bound = { clock: this.#clock, timeoutMs: CLOSE_MS_MAX }
    const all = [...this.#workers, ...this.#queues.values()]
    const closing = () => Promise.allSettled(all.map((one) => one.close()))
    await within(bound, closing, () => {})
    // Also ends what waits for a Redis that is away: BullMQ would wait without end.
    this.#workerConnection[Symbol.dispose]()
    endConnection(this.#producer)
  }

  /** Workers begin when the replica has caught up: a job that reads an old state only makes refusals. */
  #sweep(
    options: JobsOptions<unknown>,
    sweep: Sweep,
    onError: (error: Error) => void,
  ): Promise<void> {
    let isRunning = false
    const tick = async () => {
      if (!options.isLive()) return
      if (!isRunning) for (const worker of this.#workers) worker.run().catch(onError)
      isRunning = true
      await sweep.tick()
    }
    return repeat(tick, {
      clock: options.clock,
      everyMs: SWEEP_MS,
      signal: this.#closing.signal,
      onError: (error) => options.log.warn({ err: error }, 'sweep'),
    }).ended
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
