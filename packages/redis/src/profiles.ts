/**
 * Every kind of connection to Redis that the product opens: how long a command may take, what a lost connection means, and
 * what its Redis must be set to.
 */
import type { Redis } from 'ioredis'
import type { RedisAddress } from './address.ts'
import {
  assertSettings,
  type ConnectionOptions,
  createConnection,
  openChecked,
  type SettingsOptions,
} from './connection.ts'

type Profile = ConnectionOptions & {
  /** Absent: it is not looked at. */
  readonly settings?: Pick<SettingsOptions, 'required' | 'what'>
}

/** Its user may do nothing else than what the log needs. */
const LIMITED_USER = { protocol: 2, disableClientInfo: true } as const

/** Fails a command at once where there is no connection, and repeats none. */
const ONE_TRY = { enableOfflineQueue: false, maxRetriesPerRequest: 0 } as const

const REPLICA = {
  lazyConnect: true,
  ...ONE_TRY,
  // What was sent and not answered fails at once: a write's outcome is then looked up, a read is repeated
  // by its caller. Sending it again by itself would mix two moments of the state.
  autoResendUnfulfilledCommands: false,
  // A replica lags meanwhile.
  reconnect: { stepMs: 20, msMax: 500 },
} as const

const JOBS = {
  reconnect: { stepMs: 50, msMax: 500 },
  settings: {
    // It would drop jobs, and cells of the replica, silently.
    required: { 'maxmemory-policy': 'noeviction' },
    what: 'The Redis of the job queues',
  },
} as const

const RECENT_GROUPS = {
  lazyConnect: true,
  ...ONE_TRY,
  commandTimeoutMs: 1_000,
  reconnect: { stepMs: 20, msMax: 500 },
} as const

const PROFILES = {
  /** Writes and reads the log. Never reconnects: its owner knows what a lost answer means. */
  log: {
    ...LIMITED_USER,
    lazyConnect: true,
    // While Redis loads its file every command is answered by LOADING: we come again.
    enableReadyCheck: false,
    enableOfflineQueue: false,
    reconnect: null,
    // A group of 1 MiB is on disk within milliseconds; a disk that needs 10 s is as good as dead.
    connectTimeout: 10_000,
    commandTimeoutMs: 10_000,
  },
  /** Keeps the newest groups of the log next to a replica, and reads them: waits no longer than the replica's reads. */
  recentGroups: RECENT_GROUPS,
  /** Reads them once, for a repair. */
  keptGroups: { ...RECENT_GROUPS, reconnect: null },
  /** The one writer of a replica: commands take as long as they take, while anything comes. */
  replicaWrite: REPLICA,
  /** A read takes well under a millisecond; a Redis that needs this long hangs, and callers wait no longer. */
  replicaRead: {
    ...REPLICA,
    commandTimeoutMs: 1_000,
    settings: { required: { 'maxmemory-policy': 'noeviction' }, what: "The replica's Redis" },
  },
  /** Adds and counts jobs: fails within a second instead of waiting, the sweep comes again. */
  jobsProducer: {
    ...JOBS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    // Redis answers in under 1 ms, a stopped one never.
    commandTimeoutMs: 1_000,
  },
  /** Runs jobs: waits as long as Redis is away, as BullMQ demands. */
  jobsWorker: { ...JOBS, maxRetriesPerRequest: null },
  /** The validator's own store, which acknowledges only what is on disk. */
  users: {
    lazyConnect: true,
    // A write that was sent and not answered may have happened: its caller is told so, and decides.
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    // With `appendfsync always` it answers within milliseconds; more means that it hangs.
    commandTimeoutMs: 5_000,
    reconnect: { stepMs: 50, msMax: 1_000 },
    settings: {
      // Without these an acknowledged write could be lost (Rule 3).
      required: { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' },
      what: 'The Redis of the user store',
    },
  },
  /** Asks what a Redis uses. One that needs a second hangs; the watcher alone waits, and asks again. */
  usage: {
    ...LIMITED_USER,
    ...ONE_TRY,
    commandTimeoutMs: 1_000,
    reconnect: { stepMs: 100, msMax: 2_000 },
  },
  /** Deletes what is there. The Redis may have been started just now. */
  wipe: { reconnect: { stepMs: 50, msMax: 500 } },
  /** Changes a setting of a local Redis that runs. */
  settings: { reconnect: null, commandTimeoutMs: 3_000 },
} as const satisfies Readonly<Record<string, Profile>>

type Profiles = typeof PROFILES
export type RedisProfile = keyof Profiles
type CheckedProfile = {
  [Name in RedisProfile]: Profiles[Name] extends { readonly settings: object } ? Name : never
}[RedisProfile]

/** Connects at once, or by the first command where the profile is lazy. */
export function openRedis(
  address: RedisAddress,
  profile: RedisProfile,
  onError?: ConnectionOptions['onError'],
): Redis {
  const { settings: _, ...connection }: Profile = PROFILES[profile]
  return createConnection(address, { ...connection, ...(onError && { onError }) })
}

/**
 * Connects, and checks what the profile says of the settings.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis cannot be reached, or has another setting: named in the message.
 */
export function openCheckedRedis(
  address: RedisAddress,
  profile: CheckedProfile,
  options: Pick<Parameters<typeof openChecked>[1], 'reach' | 'onUnchecked'>,
): Promise<Redis> {
  return openChecked(openRedis(address, profile), { ...PROFILES[profile].settings, ...options })
}

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis has another setting than the profile says. */
export function assertProfile(redis: Redis, profile: CheckedProfile): Promise<void> {
  return assertSettings(redis, PROFILES[profile].settings)
}
