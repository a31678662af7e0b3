/**
 * Connections to the node's Redis. BullMQ in ESM cannot load ioredis by itself, so this package creates its clients. It
 * can also disconnect them when a close hangs: BullMQ waits without end while Redis is down.
 */
import { type Clock, waitFor } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { assertProfile, endConnection, openRedis, type RedisAddress } from '@quorumscan/redis'
import type { Redis } from 'ioredis'

/** How long the node's own Redis may take to start. */
const CONNECT_TIMEOUT_MS = 10_000

/**
 * For adds and counts: a command fails within a second instead of waiting, and the next sweep repeats it. Checks that
 * Redis never evicts: it would drop jobs, and cells of the replica, silently.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis does not answer in time, or may evict.
 */
export async function connectProducer(options: {
  readonly redis: RedisAddress
  readonly clock: Clock
  /** Default: 10 s. */
  readonly timeoutMs?: number
  readonly onError: (error: Error) => void
}): Promise<Redis> {
  const { clock, onError, timeoutMs = CONNECT_TIMEOUT_MS } = options
  const producer = openRedis(options.redis, 'jobsProducer', onError)
  let last: unknown
  const isReached = () =>
    producer.ping().catch((error: unknown) => {
      last = error
    })
  try {
    const what = 'the Redis of the job queues'
    await waitFor(isReached, { clock, timeoutMs, what }).catch((error: Error) => {
      throw new ScanError('DEPENDENCY_UNAVAILABLE', error.message, { cause: last ?? error })
    })
    await assertProfile(producer, 'jobsProducer')
    return producer
  } catch (error) {
    endConnection(producer)
    throw error
  }
}

/** For workers: waits while Redis is down, as BullMQ requires. Disposing disconnects it and its blocking duplicates. */
export function connectWorkers(redis: RedisAddress, onError: (error: Error) => void) {
  const client = openRedis(redis, 'jobsWorker', onError)
  const all = [client]
  const duplicate = client.duplicate.bind(client)
  client.duplicate = (override) => {
    const copy = duplicate(override)
    all.push(copy)
    return copy
  }
  return {
    client,
    [Symbol.dispose]() {
      for (const one of all) endConnection(one)
    },
  }
}
