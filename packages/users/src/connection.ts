/** The connection to the validator's own Redis, opened only where it keeps what it acknowledges. */
import { ScanError } from '@quorumscan/errors'
import { Redis } from 'ioredis'

/** A local Redis with `appendfsync always` answers within milliseconds; more means that it hangs. */
const COMMAND_TIMEOUT_MS = 5_000
const RECONNECT_DELAY_MS_MAX = 1_000

/** Settings without which an acknowledged write could be lost (Rule 3). */
const REQUIRED_SETTINGS = {
  appendonly: 'yes',
  appendfsync: 'always',
  'maxmemory-policy': 'noeviction',
} as const

/**
 * Connects and checks the settings.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis cannot be reached, or could lose or evict what it
 *   acknowledged; the message names the setting.
 */
export async function openConnection(path: string): Promise<Redis> {
  const redis = new Redis({
    path,
    lazyConnect: true,
    // A write that was sent and not answered may have happened: its caller is told so, and decides.
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: (attempt) => Math.min(attempt * 50, RECONNECT_DELAY_MS_MAX),
  })
  redis.on('error', () => {}) // Every command reports its own failure; ioredis reconnects by itself.
  try {
    await reach(redis.connect())
    for (const [setting, wanted] of Object.entries(REQUIRED_SETTINGS)) {
      const [, actual] = (await reach(redis.config('GET', setting))) as string[]
      if (actual !== wanted)
        throw new ScanError(
          'DEPENDENCY_UNAVAILABLE',
          `The Redis of the user store has ${setting} ${actual}; it must be ${wanted}.`,
        )
    }
    return redis
  } catch (error) {
    redis.disconnect()
    throw error
  }
}

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if the command failed: a write may or may not have happened. */
export async function reach<T>(command: Promise<T>): Promise<T> {
  try {
    return await command
  } catch (cause) {
    throw new ScanError('DEPENDENCY_UNAVAILABLE', 'The user store cannot be reached.', { cause })
  }
}
