/** Connections to the Redis that holds a replica. */
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import {
  COMMAND_TIMED_OUT,
  createConnection,
  openChecked,
  type RedisAddress,
  reaching,
} from '@quorumscan/redis'
import type { Redis } from 'ioredis'

/** A read takes well under a millisecond; a Redis that needs this long hangs, and callers wait no longer. */
const READ_TIMEOUT_MS = 1_000
/** Reconnecting starts after 20 ms and never waits longer than this: a replica lags meanwhile. */
const RECONNECT = { stepMs: 20, msMax: 500 }

const common = {
  lazyConnect: true,
  // What was sent and not answered fails at once: a write's outcome is then looked up, a read is repeated
  // by its caller. Sending it again by itself would mix two moments of the state.
  autoResendUnfulfilledCommands: false,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  reconnect: RECONNECT,
}

/** A connection whose commands take as long as they take, while anything comes, for the one writer. */
export function createWriteConnection(address: RedisAddress): Redis {
  return createConnection(address, common)
}

/** Resolves once commands can be sent; rejects with the signal's reason. */
export async function untilReady(redis: Redis, signal: AbortSignal): Promise<void> {
  // ioredis calls itself ready until it has heard of the close: let it hear.
  await setImmediate()
  signal.throwIfAborted()
  if (redis.status === 'wait') redis.connect().catch(() => {})
  while (redis.status !== 'ready') {
    // What goes wrong until then, it tries again by itself.
    await once(redis, 'ready', { signal }).catch(() => signal.throwIfAborted())
  }
}

/** Errors of a connection that is lost or not there, or of a Redis that hangs, by name and by message. */
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

/** Redis answered that it did nothing: out of memory, still loading, read-only, … */
export function isReplyError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError'
}

/**
 * A connection whose commands fail instead of waiting; Redis is checked never to evict. It reconnects by itself.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis cannot be reached or may evict keys.
 */
export function openReadConnection(address: RedisAddress): Promise<Redis> {
  const options = { ...common, commandTimeoutMs: READ_TIMEOUT_MS }
  return openChecked(createConnection(address, options), {
    required: { 'maxmemory-policy': 'noeviction' },
    what: "The replica's Redis",
    reach,
  })
}

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if the read failed. */
export const reach = reaching('The replica cannot be read.')
