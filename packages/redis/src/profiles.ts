/**
 * Every kind of connection to Redis that the product opens: how long a command may take, what a lost connection means, and
 * the required settings.
 */
import { createSystemClock, withTimeout } from '@quorumscan/base'
import type { Redis } from 'ioredis'
import type { RedisAddress } from './address.ts'
import {
  CONNECT_MS_MAX,
  type ConnectionOptions,
  createConnection,
  type reaching,
} from './connection.ts'
import { assertSettings, type SettingsOptions } from './settings.ts'

const clock = createSystemClock()

type Profile = ConnectionOptions & {
  /** Absent: not checked. */
  readonly settings?: Pick<SettingsOptions, 'required' | 'what'>
}

/**
 * Another policy would drop jobs, and cells of the replica, silently. Without a limit nobody knows when the memory is full:
 * then the machine ends Redis.
 */
const BOUNDED = { maxmemory: 1, 'maxmemory-policy': 'noeviction' } as const

/** For a user who has only the rights that the log needs. */
const LIMITED_USER = { protocol: 2, disableClientInfo: true } as const

/** Fails a command at once without a connection, and repeats none. */
const ONE_TRY = { enableOfflineQueue: false, maxRetriesPerRequest: 0 } as const

const REPLICA = {
  lazyConnect: true,
  ...ONE_TRY,
  // A command without a reply fails at once: then the outcome of a write is looked up, and a caller repeats a read. An
  // automatic repetition would mix two states.
  autoResendUnfulfilledCommands: false,
  // While it is disconnected, the replica lags.
  reconnect: { stepMs: 20, msMax: 500 },
} as const

const JOBS = {
  reconnect: { stepMs: 50, msMax: 500 },
  settings: { required: BOUNDED, what: 'The Redis of the job queues' },
} as const

const RECENT_GROUPS = {
  lazyConnect: true,
  ...ONE_TRY,
  commandTimeoutMs: 1_000,
  reconnect: { stepMs: 20, msMax: 500 },
} as const

const PROFILES = {
  /** Writes and reads the log. Never reconnects: its owner knows what a lost reply means. */
  log: {
    ...LIMITED_USER,
    lazyConnect: true,
    // While Redis loads its file it answers every command with LOADING, and the owner tries again.
    enableReadyCheck: false,
    enableOfflineQueue: false,
    reconnect: null,
    // A group of 1 MiB is on disk within milliseconds. A disk that needs 10 s counts as failed.
    connectTimeout: 10_000,
    commandTimeoutMs: 10_000,
  },
  /** Keeps the newest groups of the log next to a replica, and reads them: waits no longer than the replica's reads. */
  recentGroups: RECENT_GROUPS,
  /** Reads them once, for a repair. */
  recentGroupsOnce: { ...RECENT_GROUPS, reconnect: null },
  /** The writer of a replica: a command has no time limit while the connection receives data. */
  replicaWrite: REPLICA,
  /** A read takes well under a millisecond. A Redis that needs a second hangs. */
  replicaRead: {
    ...REPLICA,
    commandTimeoutMs: 1_000,
    settings: { required: BOUNDED, what: "The replica's Redis" },
  },
  /** Adds and counts jobs: fails within a second instead of waiting, because the sweep tries again. */
  jobsProducer: {
    ...JOBS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    // Redis answers in under 1 ms, a stopped one never.
    commandTimeoutMs: 1_000,
  },
  /** Runs jobs: waits while Redis is down, as BullMQ requires. */
  jobsWorker: { ...JOBS, maxRetriesPerRequest: null },
  /** The validator's own store, which acknowledges only what is on disk. */
  users: {
    lazyConnect: true,
    // A write without a reply may have happened: its caller receives an error and decides.
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    // With `appendfsync always` Redis answers within milliseconds. One that needs seconds hangs.
    commandTimeoutMs: 5_000,
    reconnect: { stepMs: 50, msMax: 1_000 },
    settings: {
      // Without these an acknowledged write could be lost (Rule 3).
      required: { appendonly: 'yes', appendfsync: 'always', ...BOUNDED },
      what: 'The Redis of the user store',
    },
  },
  /** Reads the usage of a Redis. One that needs a second hangs; only the watcher waits for it, and tries again. */
  usage: {
    ...LIMITED_USER,
    ...ONE_TRY,
    commandTimeoutMs: 1_000,
    reconnect: { stepMs: 100, msMax: 2_000 },
  },
  /** Deletes all data. The Redis may be starting. */
  wipe: { reconnect: { stepMs: 50, msMax: 500 } },
  /** Changes a setting of a local Redis, or disconnects its clients. */
  settings: { reconnect: null, commandTimeoutMs: 3_000 },
  /** Asks once whether a Redis answers. While it loads its file it refuses every command. */
  probe: {
    ...LIMITED_USER,
    enableReadyCheck: false,
    reconnect: null,
    commandTimeoutMs: 1_000,
  },
} as const satisfies Readonly<Record<string, Profile>>

type Profiles = typeof PROFILES
export type RedisProfile = keyof Profiles
type CheckedProfile = {
  [Name in RedisProfile]: Profiles[Name] extends { readonly settings: object } ? Name : never
}[RedisProfile]

/** Connects at once, or with the first command if the profile is lazy. */
export function openRedis(
  address: RedisAddress,
  profile: RedisProfile,
  onError?: ConnectionOptions['onError'],
): Redis {
  const { settings: _, ...connection }: Profile = PROFILES[profile]
  return createConnection(address, { ...connection, ...(onError && { onError }) })
}

/** Connects for one piece of work, and then disconnects. @param onError - As that of `openRedis`. */
export async function withRedis<T>(
  address: RedisAddress,
  profile: RedisProfile,
  work: (redis: Redis) => Promise<T>,
  onError?: ConnectionOptions['onError'],
): Promise<T> {
  const redis = openRedis(address, profile, onError)
  try {
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

/**
 * Connects a lazy connection, and checks by name the settings without which Redis could lose, or drop, what it
 * acknowledged.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis cannot be reached, or has another setting: named in the message.
 */
export async function openCheckedRedis(
  address: RedisAddress,
  profile: CheckedProfile,
  options: Pick<SettingsOptions, 'onUnchecked'> & { readonly reach: ReturnType<typeof reaching> },
): Promise<Redis> {
  /** Why there is no connection; a command only reports that there is none. */
  let unreachable: Error | null = null
  const redis = openRedis(address, profile, (error) => {
    unreachable = error
  })
  const connect = () =>
    redis.connect().catch((error: unknown) => {
      throw unreachable ?? error
    })
  // While no sentinel answers, ioredis tries without end.
  const late = () => {
    throw new Error('it takes too long to connect')
  }
  try {
    const timeoutMs = 2 * CONNECT_MS_MAX
    await options.reach(withTimeout({ clock, timeoutMs }, connect, late))
    await assertSettings(redis, { ...PROFILES[profile].settings, ...options })
    return redis
  } catch (error) {
    redis.disconnect()
    throw error
  }
}

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if a setting differs from the profile. */
export function assertProfile(redis: Redis, profile: CheckedProfile): Promise<void> {
  return assertSettings(redis, PROFILES[profile].settings)
}
