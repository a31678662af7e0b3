/** What connections to Redis have in common. */
import { ScanError } from '@quorumscan/errors'
import { type CommonRedisOptions, Redis } from 'ioredis'
import { limitCommands } from './command-timeout.ts'

export type ConnectionOptions = Omit<
  CommonRedisOptions,
  'retryStrategy' | 'replyMapping' | 'commandTimeout'
> & {
  /** Unix socket. */
  readonly path: string
  /** A command without a reply for so long fails (up to a quarter sooner). Default: it waits. */
  readonly commandTimeoutMs?: number
  /** Every try waits a step longer than the one before, up to `msMax`; null: a lost connection stays lost. */
  readonly reconnect: { readonly stepMs: number; readonly msMax: number } | null
  /** Default: nobody hears, as every command reports its own failure. */
  readonly onError?: (error: Error) => void
}

export function createConnection(options: ConnectionOptions): Redis {
  const { reconnect, commandTimeoutMs, onError = () => {}, ...rest } = options
  const redis = new Redis({
    ...rest,
    retryStrategy:
      reconnect === null
        ? null
        : (attempt) => Math.min(attempt * reconnect.stepMs, reconnect.msMax),
  })
  if (commandTimeoutMs !== undefined) limitCommands(redis, commandTimeoutMs)
  // An unheard 'error' event would end the process.
  return redis.on('error', onError)
}

/** Cuts the connection. Of one that has ended, ioredis would wait 2 s for a socket that closed before. */
export function endConnection(redis: Redis): void {
  if (redis.status !== 'end') redis.disconnect()
}

/** Makes a lost command one error. Of a write it is then unknown whether it happened. */
export function reaching(message: string) {
  /** @throws {ScanError} DEPENDENCY_UNAVAILABLE if the command failed. */
  return async <T>(command: Promise<T>): Promise<T> => {
    try {
      return await command
    } catch (cause) {
      throw new ScanError('DEPENDENCY_UNAVAILABLE', message, { cause })
    }
  }
}

/**
 * Connects one that is lazy, and checks by name the settings without which Redis could lose, or drop, what it
 * acknowledged.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis cannot be reached, or has another setting: named in the
 *   message.
 */
export async function openChecked(
  redis: Redis,
  options: {
    readonly required: Readonly<Record<string, string>>
    /** Which Redis it is, as a message says it. */
    readonly what: string
    readonly reach: ReturnType<typeof reaching>
  },
): Promise<Redis> {
  const { required, what, reach } = options
  try {
    await reach(redis.connect())
    for (const [setting, wanted] of Object.entries(required)) {
      const [, actual] = (await reach(redis.config('GET', setting))) as string[]
      if (actual !== wanted)
        throw new ScanError(
          'DEPENDENCY_UNAVAILABLE',
          `${what} has ${setting} ${actual}; it must be ${wanted}.`,
        )
    }
    return redis
  } catch (error) {
    redis.disconnect()
    throw error
  }
}
