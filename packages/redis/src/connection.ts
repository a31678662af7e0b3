/** How connections to Redis are made: all of them, by whichever address. */
import { type Clock, createSystemClock, within } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { type ChainableCommander, type CommonRedisOptions, Redis, type RedisOptions } from 'ioredis'
import type { RedisAddress } from './address.ts'
import { limitCommands } from './command-timeout.ts'
import { checkSettings, type RequiredSettings } from './settings.ts'

/** A Redis, or sentinel, that accepts no connection within this is as good as dead. */
const CONNECT_MS_MAX = 5_000
/**
 * A connection on which something was asked, and nothing came for so long, is given up: its Redis hangs, or its
 * machine is gone without a word. The longest that anybody waits for by itself is BullMQ, 10 s.
 */
const SILENCE_MS_MAX = 15_000
/** Between rounds of asking all sentinels, of whom none answers. */
const SENTINEL_PAUSE = { stepMs: 100, msMax: 1_000 }

const clock: Clock = createSystemClock()

export type ConnectionOptions = Omit<
  CommonRedisOptions,
  'retryStrategy' | 'reconnectOnError' | 'replyMapping' | 'commandTimeout'
> & {
  /** A command without a reply for so long fails (up to a quarter sooner). Default: it waits. */
  readonly commandTimeoutMs?: number
  /** Every try waits a step longer than the one before, up to `msMax`; null: a lost connection stays lost. */
  readonly reconnect: Pauses | null
  /** Default: nobody hears, as every command reports its own failure. */
  readonly onError?: (error: Error) => void
}

type Pauses = { readonly stepMs: number; readonly msMax: number }

export function createConnection(address: RedisAddress, options: ConnectionOptions): Redis {
  const { reconnect, commandTimeoutMs, onError = () => {}, ...rest } = options
  let attempts = 0
  /** By the monotonic clock; null while it is not ready. */
  let readySinceMs: number | null = null
  const nextPauseMs = ({ stepMs, msMax }: Pauses): number => {
    // One that was soon lost again counts with those that failed: whoever is let in only to be refused, as by a primary
    // that is none any more, would else come back without end at the shortest pause.
    if (readySinceMs !== null && clock.monotonicMs() - readySinceMs > msMax) attempts = 0
    readySinceMs = null
    attempts += 1
    return Math.min(attempts * stepMs, msMax)
  }
  const redis = new Redis({
    connectTimeout: CONNECT_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    ...rest,
    ...reachedBy(address, reconnect !== null),
    retryStrategy: reconnect === null ? null : () => nextPauseMs(reconnect),
    // Another Redis is the primary by now: by its name, or by its sentinels, it is found anew.
    reconnectOnError: ({ message }: Error) => /\bREADONLY\b/.test(message),
  })
  redis.on('ready', () => {
    readySinceMs = clock.monotonicMs()
  })
  // ioredis would have the copy count with this one.
  redis.duplicate = (override) =>
    createConnection(address, { ...options, ...(override as Partial<ConnectionOptions>) })
  if (commandTimeoutMs !== undefined) limitCommands(redis, commandTimeoutMs)
  // An unheard 'error' event would end the process.
  return redis.on('error', onError)
}

/** What ioredis is told of an address. */
function reachedBy(
  { tls, ...address }: RedisAddress,
  comesBack: boolean,
): Omit<RedisOptions, 'replyMapping'> {
  // It takes what it needs of this for each connection, which goes by the certificates of that moment.
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
    // Null would be the end of the connection, whatever else is said of coming back.
    sentinelRetryStrategy: (round) =>
      comesBack ? Math.min(round * SENTINEL_PAUSE.stepMs, SENTINEL_PAUSE.msMax) : null,
    ...(secure && { tls: secure, sentinelTLS: secure, enableTLSForSentinelMode: true }),
  }
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

/** The replies to all commands of a pipeline or a transaction. @throws The first error among them. */
export async function execute(commands: ChainableCommander): Promise<unknown[]> {
  return ((await commands.exec()) ?? []).map(([error, reply]) => {
    if (error !== null) throw error
    return reply
  })
}

export type SettingsOptions = {
  readonly required: RequiredSettings
  /** Which Redis it is, as a message says it. */
  readonly what: string
  /** Told what nobody may ask for there, in a sentence. */
  readonly onUnchecked?: (sentence: string) => void
}

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if one is known to be another, which the message names. */
export async function assertSettings(
  redis: Redis,
  { required, what, onUnchecked }: SettingsOptions,
): Promise<void> {
  const { wrong, unknown } = await checkSettings(redis, required).catch((cause: unknown) => {
    throw new ScanError('DEPENDENCY_UNAVAILABLE', `${what} does not tell its settings.`, { cause })
  })
  if (wrong.length > 0)
    throw new ScanError('DEPENDENCY_UNAVAILABLE', `${what}: ${wrong.join('; ')}.`)
  if (unknown.length > 0)
    onUnchecked?.(`${what} does not let its settings be checked: ${unknown.join('; ')}.`)
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
  options: SettingsOptions & { readonly reach: ReturnType<typeof reaching> },
): Promise<Redis> {
  const { reach } = options
  try {
    // Of sentinels, of whom none answers, ioredis goes on asking.
    const late = () => {
      throw new Error('it takes too long to connect')
    }
    const bound = { clock, timeoutMs: 2 * CONNECT_MS_MAX }
    await reach(within(bound, () => redis.connect(), late))
    await assertSettings(redis, options)
    return redis
  } catch (error) {
    redis.disconnect()
    throw error
  }
}
