/** The processes of one operator, and how each is started. A local cluster plans each simulated operator with it. Pure. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Env } from '@quorumscan/base'
import { REPLICA_REDIS_OPTIONS } from '@quorumscan/replica'
import {
  type RedisService,
  redisIdOf,
  redisSocketOf,
  type Service,
  urlOfSocket,
} from '@quorumscan/supervisor'
import { memberKeyFile, type Runnable } from './ceremony/member.ts'
import type { DataDirectory } from './data-directory.ts'
import { logTokenOf, logTokensOf, nodeTokensOf } from './secrets.ts'

export const LOG_WRITER_SECRET = 'log-writer'
export const LOOPBACK = '127.0.0.1'

/** The directories and programs of the processes. */
export type Machine = {
  readonly directory: DataDirectory
  /** A short directory for unix sockets: their paths end at 107 bytes. */
  readonly socketDirectory: string
  readonly redisServer: string
  /** The compiled entry file of each app. */
  readonly entryFiles: Readonly<Record<Service['kind'], string>>
  /** The CometBFT program; null: one synchronizer orders. */
  readonly engineProgram: string | null
  /** The variables that every process inherits, e.g. PATH. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The file for the output of a process, by its id; null: the output of its supervisor. */
  readonly logFileOf: (id: string) => string | null
}

/** A Redis that an app has, on a unix socket. */
export function planRedis(
  machine: Omit<Machine, 'entryFiles' | 'engineProgram'>,
  options: { readonly name: string } & Pick<
    Parameters<typeof redisConfig>[0],
    'fsync' | 'user' | 'memoryBytes'
  >,
): RedisService {
  const { name, fsync, user, memoryBytes } = options
  const redisDirectory = machine.directory.redisDirectory(name)
  const file = join(redisDirectory, 'redis.conf')
  const socketPath = redisSocketOf(machine.socketDirectory, name)
  const text = redisConfig({ socketPath, directory: redisDirectory, fsync, user, memoryBytes })
  const login = user === null ? {} : { username: user.name, password: user.password }
  const id = redisIdOf(name)
  const logFile = machine.logFileOf(id)
  // Redis 8 and Valkey refuse to start in a locale that the machine does not have, such as one that ssh passed on.
  const env = { ...machine.env, LC_ALL: 'C' }
  return {
    name,
    redis: { id, command: machine.redisServer, args: [file], env, logFile },
    redisAddress: { path: socketPath, ...login },
    redisDirectory,
    redisConfig: { file, text },
    redisMemoryBytes: memoryBytes,
  }
}

/** A user of the log's Redis, with its ACL rules. */
export type RedisUser = {
  readonly name: string
  readonly password: string
  /** ACL rules, e.g. `~log +xrange`. */
  readonly rules: string
}

/** The text of the configuration file of a Redis, which listens on a unix socket only. Holds password digests: mode 0600. */
export function redisConfig(input: {
  readonly socketPath: string
  readonly directory: string
  /**
   * `always`: an acknowledged write is on disk (the log, the validator's users). `everysec`: the last
   * second may be lost, because everything in it follows from the log (Rule 3).
   */
  readonly fsync: 'always' | 'everysec'
  /** Its share of the budget of the machine (`redis-memory.ts`). */
  readonly memoryBytes: number
  /** Not null: no other user may connect. */
  readonly user: RedisUser | null
}): string {
  const lines = [
    'port 0',
    `unixsocket ${quote(input.socketPath)}`,
    'unixsocketperm 700',
    `dir ${quote(input.directory)}`,
    'daemonize no',
    // A title would be written over the environment, by which leftovers are found.
    'set-proc-title no',
    'save ""',
    'appendonly yes',
    `appendfsync ${input.fsync}`,
    'no-appendfsync-on-rewrite no',
    // The log refuses entries before (`FULL_SHARE`), so that ingest, jobs and trimming always have room.
    `maxmemory ${input.memoryBytes}`,
    // BullMQ and the replica lose data under any other policy.
    'maxmemory-policy noeviction',
    // The log has none of this: it is a stream.
    ...Object.entries(REPLICA_REDIS_OPTIONS).map(([name, value]) => `${name} ${value}`),
  ]
  const { user } = input
  if (user !== null)
    lines.push(
      // The file is rewritten when half of it is trimmed: as commands, so that Redis can read past a damaged entry.
      'auto-aof-rewrite-percentage 100',
      'auto-aof-rewrite-min-size 256mb',
      'aof-use-rdb-preamble no',
      'user default off',
      `user ${user.name} on #${createHash('sha256').update(user.password).digest('hex')} ${user.rules}`,
    )
  return `${lines.join('\n')}\n`
}

function quote(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** The synchronizer with an engine that an operator runs where members order together. */
export type OwnSynchronizer = {
  readonly name: string
  /** Its name in commands. It accepts the log tokens that are stored under this name. */
  readonly owner: string
  readonly port: number
  /** The other ports on which it listens. */
  readonly enginePorts: readonly number[]
  readonly engineSockets: string
  /** The engines that its engine dials, as `id@host:port`, and the ids of engines without a vote that it accepts. */
  readonly peers: readonly string[]
  readonly followers: readonly string[]
  readonly variables: Env
}

/** The services of one operator, in the order in which they start. */
export function plan(
  machine: Machine,
  operator: {
    readonly runs: Runnable
    readonly name: string
    readonly redis: RedisService
    readonly url: string
    readonly port: number
    /** The variables of its configuration. They replace those of the data directory, except keys and Redis. */
    readonly variables: Env
    /** Null if one synchronizer orders. */
    readonly synchronizer: OwnSynchronizer | null
  },
): readonly Service[] {
  const { runs, name, redis, url, port, variables, synchronizer } = operator
  const { directory } = machine
  const key = (kind: string) => memberKeyFile(directory, name, kind)
  const redisUrl = urlOfSocket(redis.redisAddress.path)
  const keys: Readonly<Record<Runnable, Env>> = {
    sv: {
      QS_NODE_NAME: name,
      QS_SCAN_KEY_FILE: key('scan'),
      QS_OPERATOR_KEY_FILE: key('operator'),
    },
    validator: { QS_PARTICIPANT_KEY_FILE: key('participant') },
    synchronizer: { QS_KEY_FILE: key('synchronizer') },
  }
  const redisOfLog = {
    QS_LOG_REDIS: redisUrl,
    QS_LOG_REDIS_PASSWORD_FILE: directory.secretFile(LOG_WRITER_SECRET),
    QS_LOG_DIRECTORY: redis.redisDirectory,
  }
  const ownRedis = runs === 'synchronizer' ? redisOfLog : { QS_REDIS: redisUrl }
  const app = planService(machine, {
    name,
    owner: name,
    kind: runs === 'sv' ? 'scan' : runs,
    redis,
    url,
    ports: [port],
    env: {
      ...(synchronizer !== null && {
        QS_LOG: `http://${LOOPBACK}:${synchronizer.port}`,
        QS_LOG_TOKEN_FILE: directory.secretFile(logTokenOf(name)),
      }),
      ...(runs === 'sv' ? { QS_SNAPSHOTS: directory.snapshotDirectory(name) } : {}),
      ...variables,
      // No configuration replaces these.
      ...keys[runs],
      ...(redis.isExternal ? {} : ownRedis),
    },
  })
  if (synchronizer === null) return [app]
  const engineDirectory = directory.engineDirectory(name)
  const { owner, enginePorts } = synchronizer
  const ordering = planService(machine, {
    name: synchronizer.name,
    owner,
    kind: 'synchronizer',
    redis,
    engineDirectory,
    url: `http://${LOOPBACK}:${synchronizer.port}`,
    ports: [synchronizer.port, ...enginePorts],
    env: {
      QS_PEER_TOKENS_FILE: directory.secretFile(logTokensOf(owner)),
      ...(runs === 'sv' && { QS_NODE_TOKENS_FILE: directory.secretFile(nodeTokensOf(owner)) }),
      QS_COMETBFT: machine.engineProgram ?? '',
      ...synchronizer.variables,
      QS_PORT: String(synchronizer.port),
      ...(redis.isExternal ? {} : { QS_REDIS: redisUrl, QS_LOG_DIRECTORY: redis.redisDirectory }),
      QS_ENGINE_HOME: engineDirectory,
      QS_ENGINE_SOCKETS: synchronizer.engineSockets,
      QS_ENGINE_PEERS: synchronizer.peers.join(','),
      QS_ENGINE_FOLLOWERS: runs === 'sv' ? synchronizer.followers.join(',') : '',
      QS_ENGINE_KEY_FILE: key('engine'),
      ...(runs === 'sv' ? { QS_VOTING_KEY_FILE: key('voting') } : {}),
    },
  })
  return [ordering, app]
}

function planService(
  machine: Machine,
  {
    env,
    redis,
    ...given
  }: Pick<Service, 'name' | 'owner' | 'kind' | 'url' | 'ports'> & {
    readonly redis: RedisService
    readonly engineDirectory?: string
    /** Variables in addition to those that every process inherits. */
    readonly env: Env
  },
): Service {
  const { name, kind } = given
  const args = [machine.entryFiles[kind]]
  const logFile = machine.logFileOf(name)
  return {
    ...redis,
    engineDirectory: null,
    ...given,
    app: {
      id: name,
      command: process.execPath,
      args,
      env: { ...machine.env, ...env },
      logFile,
      hasHeartbeat: true,
    },
  }
}

/** The socket on which a process of `run` serves metrics and health. */
export function metricsSocketOf(machine: Pick<Machine, 'socketDirectory'>, name: string) {
  return redisSocketOf(machine.socketDirectory, `m-${name}`)
}
