/** How all connections to Redis are made. */
import { createSystemClock, held } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { type ChainableCommander, type CommonRedisOptions, Redis, type RedisOptions } from 'ioredis'
import type { RedisAddress } from './address.ts'
import { limitCommands } from './command-timeout.ts'

/** A Redis or sentinel that accepts no connection in this time counts as down. */
export const CONNECT_MS_MAX = 5_000
/**
 * A connection without data for this time after a command is closed: its Redis hangs, or its machine disappeared. BullMQ
 * has the longest blocking command, 10 s.
 */
const SILENCE_MS_MAX = 15_000
/** The pause between rounds over all sentinels while none answers. */
const SENTINEL_PAUSE = { stepMs: 100, msMax: 1_000 }

const clock = createSystemClock()

export type ConnectionOptions = Omit<
  CommonRedisOptions,
  'retryStrategy' | 'reconnectOnError' | 'replyMapping' | 'commandTimeout'
> & {
  /** A command without a reply for this time fails (up to a quarter earlier). Default: it waits. */
  readonly commandTimeoutMs?: number
  /** Each attempt waits a step longer than the previous one, up to `msMax`. Null: it never reconnects. */
  readonly reconnect: Pauses | null
  /** Default: errors are ignored, because every command reports its own failure. */
  readonly onError?: (error: Error) => void
}

const open = held(
  {
    owner: 'redis',
    name: 'connections to Redis',
    kind: 'work',
    bound: 'a few of each part of the process',
  },
  new Set<Redis>(),
)

type Pauses = { readonly stepMs: number; readonly msMax: number }

export function createConnection(address: RedisAddress, options: ConnectionOptions): Redis {
  const { reconnect, commandTimeoutMs, onError = () => {}, ...rest } = options
  let attempts = 0
  /** By the monotonic clock; null while it is not ready. */
  let readySinceMs: number | null = null
  const nextPauseMs = ({ stepMs, msMax }: Pauses): number => {
    // A connection that is soon lost again counts as a failure. Otherwise a client of a Redis that accepts and then refuses,
    // such as a demoted primary, would reconnect without end at the shortest pause.
    if (readySinceMs !== null && clock.monotonicMs() - readySinceMs > msMax) attempts = 0
    readySinceMs = null
    attempts += 1
    return Math.min(attempts * stepMs, msMax)
  }
  const redis: Redis = new Redis({
    connectTimeout: CONNECT_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    ...rest,
    ...addressOptions(address, reconnect !== null),
    retryStrategy: reconnect === null ? null : () => nextPauseMs(reconnect),
    // Another Redis became the primary. A new connection finds it, by its name or by its sentinels.
    reconnectOnError: ({ message }: Error) => /\bREADONLY\b/.test(message),
  })
  redis.on('ready', () => {
    readySinceMs = clock.monotonicMs()
  })
  open.add(redis)
  redis.on('end', () => open.delete(redis))
  // The copy of ioredis would share the count of attempts.
  redis.duplicate = (override) =>
    createConnection(address, { ...options, ...(override as Partial<ConnectionOptions>) })
  if (commandTimeoutMs !== undefined) limitCommands(redis, commandTimeoutMs)
  // An 'error' event without a listener would end the process.
  return redis.on('error', onError)
}

/** The options of ioredis for an address. */
function addressOptions(
  { tls, ...address }: RedisAddress,
  reconnects: boolean,
): Omit<RedisOptions, 'replyMapping'> {
  // ioredis reads this for each connection, so that each connection uses the current certificates.
  const secure =
    tls === undefined
      ? undefined
      : {
          get secureContext() {
            return tls?.()
          },
        }
  if (!('sentinels' in address)) return { ...address, ...(secure && { tls: secure }) }
  const { sentinels, ...others } = address
  return {
    ...others,
    sentinels: [...sentinels],
    sentinelCommandTimeout: CONNECT_MS_MAX,
    // Null ends the connection, whatever `retryStrategy` returns.
    sentinelRetryStrategy: (round) =>
      reconnects ? Math.min(round * SENTINEL_PAUSE.stepMs, SENTINEL_PAUSE.msMax) : null,
    ...(secure && { tls: secure, sentinelTLS: secure, enableTLSForSentinelMode: true }),
  }
}

/** Closes the connection at once. For an ended one, ioredis would wait 2 s for a socket that is already closed. */
export function endConnection(redis: Redis): void {
  if (redis.status !== 'end') redis.disconnect()
}

/** Turns a failed command into one error. Whether a failed write happened is unknown. */
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

/** The replies to all commands of a pipeline or a transaction. @throws The first error among them. */
export async function execute(commands: ChainableCommander): Promise<unknown[]> {
  return ((await commands.exec()) ?? []).map(([error, reply]) => {
    if (error !== null) throw error
    return reply
  })
}
