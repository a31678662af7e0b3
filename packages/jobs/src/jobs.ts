/** Owns the queues, the workers and the sweep of one process. */
import { singleFlight, withTimeout } from '@quorumscan/base'
import { dueOf, type Ledger } from '@quorumscan/ledger'
import { endConnection, type RedisAddress } from '@quorumscan/redis'
import { createRateLimitedLog, type Metrics, repeat, type Tracer } from '@quorumscan/runtime'
import { connectProducer, connectWorkers } from './connection.ts'
import { createFailures } from './failures.ts'
import type { JobDefinition } from './job.ts'
import { createJobShares } from './job-shares.ts'
import { countsOf, createQueue, measureQueues, memberDelayMs, type TurnOrder } from './queue.ts'
import { createPostponed, createSweep } from './sweep.ts'
import { createRunMetrics, createWorker, type WorkerApp } from './worker.ts'

/** How long due work may wait if no event announced it (Rule 7). */
const SWEEP_MS = 1_000
/** Jobs that are postponed at a time; they use some MiB. */
const POSTPONED_MAX = 20_000
/** Aborted jobs have this long to end. They stay queued. */
const CLOSE_MS_MAX = 2_000

/**
 * The automation of one process. What is queued stays there when the process ends: the next one runs it, and what a
 * killed process was running, within `RECOVERY_MS_MAX`. If Redis loses its queues, a sweep fills them again from the
 * ledger's due items.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis does not answer within 10 s, or may evict keys.
 */
export async function openJobs<Deps>(
  app: WorkerApp & { readonly metrics: Metrics; readonly tracer: Tracer | null },
  options: {
    /** The node's own Redis. */
    readonly redis: RedisAddress
    /** The prefix of its Redis keys (`QUEUES_OF`). */
    readonly prefix: string
    readonly definitions: readonly JobDefinition<Deps>[]
    readonly deps: Deps
    readonly ledger: Ledger
    /** False while the replica catches up: commands made from an old state are refused. */
    readonly isLive: () => boolean
    readonly turn: TurnOrder
  },
) {
  const { clock, logger, metrics } = app
  const { redis, prefix, definitions, deps, ledger, isLive, turn } = options
  // ioredis reports each failed attempt; one line per second is enough.
  const lines = createRateLimitedLog({ clock, perSubjectMs: 1_000 })
  const onError = (err: Error) =>
    lines.write('redis', (suppressed) =>
      logger.warn({ err, ...suppressed }, 'no connection to the Redis of the job queues; retrying'),
    )
  const producer = await connectProducer({ redis, clock, onError })
  const workerConnection = connectWorkers(redis, onError)
  const closing = new AbortController()
  const { signal } = closing
  const queues = definitions.map(({ name, runsOn, select, due }) => ({
    ...createQueue({
      name,
      connection: producer,
      prefix,
      delayMsOf: (id) => (runsOn === 'every-member' ? 0 : memberDelayMs(id, turn)),
      onError,
    }),
    select: async (ids: readonly string[]) => (await select?.(ids, deps)) ?? ids,
    due: due && (() => due(deps)),
  }))
  measureQueues(metrics, queues)
  const postponed = createPostponed(clock, POSTPONED_MAX)
  const shares = createJobShares(clock)
  // A Redis that was down may have lost its last seconds, queued jobs included.
  producer.on('ready', () => {
    postponed.clear()
    shares.clear()
  })
  const measured = createRunMetrics(app, definitions)
  const failures = createFailures(producer, prefix)
  const workers = definitions.map((definition) =>
    createWorker(app, {
      definition,
      deps,
      connection: workerConnection.client,
      prefix,
      postponed,
      shares,
      measured,
      signal,
      onError,
      onDropped: (failure) =>
        failures
          .record(failure)
          .catch((err) => logger.warn({ err, ...failure }, 'could not record a dropped job')),
    }),
  )
  const sweep = createSweep({ ledger, queues, postponed, shares })
  const flush = singleFlight(() =>
    sweep.flush().catch((err: unknown) => {
      logger.info({ err }, 'could not queue due jobs now; the next sweep adds them')
    }),
  )
  // Adds what an applied entry made due, without holding up the ingest loop that calls back.
  const stopListening = ledger.onApplied((entry) => {
    if (!isLive()) return
    const due = entry.created.flatMap(dueOf).filter((item) => item.at <= entry.recordTime)
    if (due.length === 0) return
    sweep.enqueue(due)
    void flush()
  })
  let isRunning = false
  const tick = async () => {
    if (!isLive()) return
    // Workers begin when the replica has caught up: commands made from an old state are refused.
    if (!isRunning) for (const worker of workers) worker.run().catch(onError)
    isRunning = true
    await sweep.tick()
  }
  const sweeping = repeat(tick, {
    clock,
    everyMs: SWEEP_MS,
    signal,
    onError: (err) => logger.warn({ err }, 'the sweep for due jobs failed; retrying in 1 s'),
  })
  return {
    /** The jobs in each queue now. */
    counts: () => countsOf(queues),
    /** Aborts running jobs and waits for them, at most 2 s. They stay queued for the next process. */
    async [Symbol.asyncDispose](): Promise<void> {
      stopListening()
      closing.abort(new Error('the process stops'))
      await sweeping.ended
      const closeAll = () => Promise.allSettled([...workers, ...queues].map((one) => one.close()))
      await withTimeout({ clock, timeoutMs: CLOSE_MS_MAX }, closeAll, () => {})
      // Also ends commands that wait for a Redis that is down: BullMQ would wait without end.
      workerConnection[Symbol.dispose]()
      endConnection(producer)
    },
  }
}
