/**
 * Connections to the node's Redis. BullMQ in ESM cannot load ioredis by itself, so it gets clients that
 * are ours; that also lets us cut them when a close hangs (BullMQ waits for ever while Redis is away).
 */
import { type Clock, waitFor } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import {
  assertSettings,
  createConnection,
  endConnection,
  type RedisAddress,
} from '@quorumscan/redis'
import type { Redis } from 'ioredis'

export type JobConnections = {
  /** For adds and counts: fails within a second instead of waiting, the sweep comes again. */
  readonly producer: Redis
  /** For workers: waits as long as Redis is away, as BullMQ demands. */
  readonly worker: Redis
  /** Cuts all of them, BullMQ's blocking duplicates included. */
  disconnect(): void
}

/** How long a producer's command may take: Redis answers in under 1 ms, a stopped one never. */
const COMMAND_TIMEOUT_MS = 1_000
const RECONNECT = { stepMs: 50, msMax: 500 }
/** How long the node's own Redis may take to come up with it. */
const CONNECT_TIMEOUT_MS = 10_000

/**
 * Connects, and checks that Redis never evicts: it would drop jobs, and cells of the replica, silently.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis does not answer in 10 s, or may evict.
 */
export async function connectJobs(options: {
  readonly redis: RedisAddress
  readonly clock: Clock
  readonly onError: (error: Error) => void
}): Promise<JobConnections> {
  const { redis, onError } = options
  const shared = { onError, reconnect: RECONNECT }
  const producer = createConnection(redis, {
    ...shared,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
  })
  const worker = createConnection(redis, { ...shared, maxRetriesPerRequest: null })
  const all = [producer, worker]
  const duplicate = worker.duplicate.bind(worker)
  worker.duplicate = (override) => {
    const copy = duplicate(override)
    all.push(copy)
    return copy
  }
  const disconnect = () => {
    for (const client of all) endConnection(client)
  }
  try {
    await untilDone(() => producer.ping(), options.clock)
    await assertSettings(producer, {
      required: { 'maxmemory-policy': 'noeviction' },
      what: 'The Redis of the job queues',
    })
  } catch (error) {
    disconnect()
    throw error
  }
  return { producer, worker, disconnect }
}

/**
 * Runs what a start needs of Redis, again where it fails: Redis may die while its node starts.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE after 10 s.
 */
export async function untilDone<T>(command: () => Promise<T>, clock: Clock): Promise<T> {
  let last: unknown
  const probe = async () => {
    try {
      return { value: await command() }
    } catch (error) {
      last = error
      return undefined
    }
  }
  const what = 'the Redis of the job queues'
  const { value } = await waitFor(probe, { clock, timeoutMs: CONNECT_TIMEOUT_MS, what }).catch(
    (error: Error) => {
      throw new ScanError('DEPENDENCY_UNAVAILABLE', error.message, { cause: last ?? error })
    },
  )
  return value
}
