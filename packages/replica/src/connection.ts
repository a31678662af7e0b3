/** Connections to the Redis that holds a replica. */
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import type { Offset } from '@quorumscan/model'
import {
  COMMAND_TIMED_OUT,
  endConnection,
  openCheckedRedis,
  type RedisAddress,
  reaching,
} from '@quorumscan/redis'
import type { Redis } from 'ioredis'
import { decodeSpan } from './storage/head.ts'
import { readHeadBytes } from './storage/head-reads.ts'

/** Resolves once commands can be sent; rejects with the signal's reason. */
export async function untilReady(redis: Redis, signal: AbortSignal): Promise<void> {
  // ioredis reports `ready` until it has received the close event.
  await setImmediate()
  signal.throwIfAborted()
  if (redis.status === 'wait') redis.connect().catch(() => {})
  while (redis.status !== 'ready') {
    // ioredis retries by itself until then.
    await once(redis, 'ready', { signal }).catch(() => signal.throwIfAborted())
  }
}

/** Errors of a lost or missing connection, or of a Redis that hangs, by name and by message. */
const CONNECTION_ERROR_NAMES = new Set(['AbortError', 'MaxRetriesPerRequestError'])
const CONNECTION_ERROR_MESSAGES = new Set([
  'Connection is closed.',
  COMMAND_TIMED_OUT,
  "Stream isn't writeable and enableOfflineQueue options is false",
])

/** True where the command was not sent, or its outcome is unknown. */
export function isConnectionError(error: unknown): boolean {
  return (
    error instanceof Error &&
    (CONNECTION_ERROR_NAMES.has(error.name) ||
      CONNECTION_ERROR_MESSAGES.has(error.message) ||
      'syscall' in error)
  )
}

/** Redis refused the command: out of memory, still loading, read-only, … */
export function isReplyError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError'
}

/**
 * Opens a connection for reads, where Redis never evicts. It reconnects by itself.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis cannot be reached or may evict keys.
 */
export function openReadConnection(address: RedisAddress): Promise<Redis> {
  return openCheckedRedis(address, 'replicaRead', { reach })
}

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if the read failed. */
export const reach = reaching('The replica cannot be read.')

/**
 * The newest offset that the replica in this Redis has applied; 0 where Redis holds no replica.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if its Redis cannot be read.
 * @throws {ReplicaStateError} If it has another layout.
 */
export async function readStoredOffset(address: RedisAddress): Promise<Offset> {
  const redis = await openReadConnection(address)
  try {
    const bytes = await reach(readHeadBytes(redis))
    return bytes === null ? 0 : decodeSpan(bytes).offset
  } finally {
    endConnection(redis)
  }
}
