/** Which processes make up a cluster, and how each is started. Pure. */
import { join } from 'node:path'
import type { DataDirectory } from './data-directory.ts'
import { LOG_TOKENS, logTokenOf, type Prepared } from './prepare.ts'
import type { RedisAddress } from './probe.ts'
import { type RedisUser, redisConfig } from './redis-config.ts'
import { redisSocketOf } from './socket-directory.ts'
import type { ProcessSpec } from './supervisor.ts'

/** A Redis of a cluster, and what it is started with. */
export type RedisService = {
  readonly name: string
  readonly redis: ProcessSpec
  readonly redisAddress: RedisAddress
  readonly redisDirectory: string
  /** Where `redis` reads its configuration, and what stands there. */
  readonly redisConfig: { readonly file: string; readonly text: string }
}

/** An app with the Redis that is its own; `sv-1` …, `validator` or `synchronizer`. */
export type Service = RedisService & {
  readonly kind: 'scan' | 'validator' | 'synchronizer'
  readonly url: string
  readonly app: ProcessSpec
  /** The unix socket on which its process takes faults. */
  readonly faultSocket: string
}

export type TopologyInput = {
  readonly prepared: Prepared
  /** A short directory for unix sockets: their paths end at 107 bytes. */
  readonly socketDirectory: string
  readonly redisServer: string
  /** Units per second and client (D-33). */
  readonly rateLimit: number
  /** What stays free on the disk, in MiB. */
  readonly diskFreeMibMin: number
  /** Whether a validator that lost its users begins anew. */
  readonly isLossAccepted: boolean
  /** The compiled entry file of each app, composed with its faults. */
  readonly mains: Readonly<Record<Service['kind'], string>>
  /** The user of the log's Redis and its rules, from `packages/log`. */
  readonly logUser: Omit<RedisUser, 'password'>
  /** What every process inherits, e.g. PATH. */
  readonly env: Readonly<Record<string, string | undefined>>
}

const HOST = '127.0.0.1'

/** A Redis with the user of the log's, under another name, in a directory of its own. */
export function planLogRedis(input: TopologyInput, name: string): RedisService {
  return planRedis(input, { name, fsync: 'always', user: logUserOf(input) })
}

function planRedis(
  input: TopologyInput,
  options: {
    readonly name: string
    readonly fsync: 'always' | 'everysec'
    readonly user: RedisUser | null
  },
): RedisService {
  const { name, fsync, user } = options
  const { directory } = input.prepared
  const redisDirectory = directory.redisDirectory(name)
  const file = join(redisDirectory, 'redis.conf')
  const socketPath = redisSocketOf(input.socketDirectory, name)
  return {
    name,
    redis: {
      id: `${name}.redis`,
      command: input.redisServer,
      args: [file],
      env: input.env,
      logFile: directory.logFile(`${name}.redis`),
    },
    redisAddress: {
      socketPath,
      login: user === null ? null : { user: user.name, password: user.password },
    },
    redisDirectory,
    redisConfig: {
      file,
      text: redisConfig({ socketPath, directory: redisDirectory, fsync, user }),
    },
  }
}

function logUserOf({ prepared, logUser }: TopologyInput): RedisUser {
  return { ...logUser, password: prepared.secrets.logWriter }
}

/** In the order in which they start; they stop in the opposite one. */
export function planServices(input: TopologyInput): readonly Service[] {
  const { prepared } = input
  const { directory, ports } = prepared
  const urlOf = (port: number) => `http://${HOST}:${port}`
  const nodeUrls = ports.nodes.map(urlOf)
  const socketOf = (name: string) => redisSocketOf(input.socketDirectory, name)

  const service = (options: {
    name: string
    kind: Service['kind']
    port: number
    fsync: 'always' | 'everysec'
    user: RedisUser | null
    env: Record<string, string>
  }): Service => {
    const { name, kind } = options
    const faultSockets = socketOf(`f-${name}`)
    return {
      ...planRedis(input, options),
      kind,
      url: urlOf(options.port),
      app: {
        id: name,
        command: process.execPath,
        args: ['--enable-source-maps', input.mains[kind]],
        env: {
          ...input.env,
          QS_GENESIS: directory.genesisFile,
          QS_HOST: HOST,
          QS_PORT: String(options.port),
          QS_RATE_LIMIT: String(input.rateLimit),
          QS_NODES: prepared.nodeNames.map((node, at) => `${node}=${nodeUrls[at]}`).join(','),
          QS_FAULT_SOCKETS: faultSockets,
          ...options.env,
        },
        logFile: directory.logFile(name),
      },
      faultSocket: `${faultSockets}.faults`,
    }
  }

  const replicaEnv = (name: string) => ({
    QS_REDIS: socketOf(name),
    QS_LOG: urlOf(ports.synchronizer),
    QS_LOG_TOKEN_FILE: directory.secretFile(logTokenOf(name)),
  })

  return [
    service({
      name: 'synchronizer',
      kind: 'synchronizer',
      port: ports.synchronizer,
      fsync: 'always',
      user: logUserOf(input),
      env: {
        QS_LOG_DIRECTORY: directory.redisDirectory('synchronizer'),
        QS_DISK_FREE_MIB_MIN: String(input.diskFreeMibMin),
        QS_KEY_FILE: directory.keyFile('synchronizer'),
        QS_PEER_TOKENS_FILE: directory.secretFile(LOG_TOKENS),
        QS_LOG_REDIS: socketOf('synchronizer'),
        QS_LOG_REDIS_PASSWORD_FILE: directory.secretFile('log-writer'),
      },
    }),
    ...prepared.nodeNames.map((name, index) =>
      service({
        name,
        kind: 'scan',
        port: ports.nodes[index] ?? 0,
        fsync: 'everysec',
        user: null,
        env: {
          ...replicaEnv(name),
          QS_NODE_NAME: name,
          QS_SCAN_KEY_FILE: directory.keyFile(`${name}.scan`),
          QS_OPERATOR_KEY_FILE: directory.keyFile(`${name}.operator`),
          QS_PUBLIC_URL: nodeUrls[index] ?? '',
        },
      }),
    ),
    service({
      name: 'validator',
      kind: 'validator',
      port: ports.validator,
      fsync: 'always',
      user: null,
      env: {
        ...replicaEnv('validator'),
        ...validatorEnv(directory),
        ...(input.isLossAccepted ? { QS_ACCEPT_LOST_USERS: '1' } : {}),
        QS_PUBLIC_URL: urlOf(ports.validator),
        QS_SEEDS: nodeUrls.join(','),
      },
    }),
  ]
}

function validatorEnv(directory: DataDirectory) {
  return {
    QS_PARTICIPANT_KEY_FILE: directory.keyFile('validator.participant'),
    QS_JWT_SECRET_FILE: directory.secretFile('jwt'),
    // All nodes of a local cluster live on loopback addresses.
    QS_ALLOW_PRIVATE_ADDRESSES: '1',
  }
}
