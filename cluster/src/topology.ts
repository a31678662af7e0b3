/** Which processes make up a cluster, and how each is started. Pure. */
import { join } from 'node:path'
import type { DataDirectory } from './data-directory.ts'
import { type Prepared, SUBMIT_TOKENS, submitTokenOf } from './prepare.ts'
import type { RedisAddress } from './probe.ts'
import { type RedisUser, redisConfig } from './redis-config.ts'
import { redisSocketOf } from './socket-directory.ts'
import type { ProcessSpec } from './supervisor.ts'

/** An app with the Redis that is its own. */
export type Service = {
  /** `sv-1` …, `validator` or `synchronizer`. */
  readonly name: string
  readonly kind: 'scan' | 'validator' | 'synchronizer'
  readonly url: string
  readonly app: ProcessSpec
  readonly redis: ProcessSpec
  readonly redisAddress: RedisAddress
  readonly redisDirectory: string
  /** The unix socket on which its process takes faults. */
  readonly faultSocket: string
  /** Where `redis` reads its configuration, and what stands there. */
  readonly redisConfig: { readonly file: string; readonly text: string }
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
  /** Rules of the two users of the log's Redis, from `packages/log`. */
  readonly logRules: { readonly writer: string; readonly reader: string }
  /** What every process inherits, e.g. PATH. */
  readonly env: Readonly<Record<string, string | undefined>>
}

const HOST = '127.0.0.1'

/** In the order in which they start; they stop in the opposite one. */
export function planServices(input: TopologyInput): readonly Service[] {
  const { prepared } = input
  const { directory, ports, secrets } = prepared
  const urlOf = (port: number) => `http://${HOST}:${port}`
  const nodeUrls = ports.nodes.map(urlOf)
  const socketOf = (name: string) => redisSocketOf(input.socketDirectory, name)

  const writer: RedisUser = {
    name: 'writer',
    password: secrets.logWriter,
    rules: input.logRules.writer,
  }
  const reader: RedisUser = {
    name: 'reader',
    password: secrets.logReader,
    rules: input.logRules.reader,
  }

  const service = (options: {
    name: string
    kind: Service['kind']
    port: number
    fsync: 'always' | 'everysec'
    users: readonly RedisUser[] | null
    env: Record<string, string>
  }): Service => {
    const { name, kind } = options
    const redisDirectory = directory.redisDirectory(name)
    const configFile = join(redisDirectory, 'redis.conf')
    const login = options.users?.[0] ?? null
    const faultSockets = socketOf(`f-${name}`)
    return {
      name,
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
          QS_LOG_REDIS: socketOf('synchronizer'),
          QS_NODES: prepared.nodeNames.map((node, at) => `${node}=${nodeUrls[at]}`).join(','),
          QS_FAULT_SOCKETS: faultSockets,
          ...options.env,
        },
        logFile: directory.logFile(name),
      },
      redis: {
        id: `${name}.redis`,
        command: input.redisServer,
        args: [configFile],
        env: input.env,
        logFile: directory.logFile(`${name}.redis`),
      },
      redisAddress: {
        socketPath: socketOf(name),
        login: login === null ? null : { user: login.name, password: login.password },
      },
      redisDirectory,
      faultSocket: `${faultSockets}.faults`,
      redisConfig: {
        file: configFile,
        text: redisConfig({
          socketPath: socketOf(name),
          directory: redisDirectory,
          fsync: options.fsync,
          users: options.users,
        }),
      },
    }
  }

  const replicaEnv = (name: string) => ({
    QS_REDIS: socketOf(name),
    QS_LOG_REDIS_PASSWORD_FILE: directory.secretFile('log-reader'),
    QS_SYNCHRONIZER_URL: urlOf(ports.synchronizer),
    QS_SYNCHRONIZER_TOKEN_FILE: directory.secretFile(submitTokenOf(name)),
  })

  return [
    service({
      name: 'synchronizer',
      kind: 'synchronizer',
      port: ports.synchronizer,
      fsync: 'always',
      users: [writer, reader],
      env: {
        QS_LOG_DIRECTORY: directory.redisDirectory('synchronizer'),
        QS_DISK_FREE_MIB_MIN: String(input.diskFreeMibMin),
        QS_KEY_FILE: directory.keyFile('synchronizer'),
        QS_PEER_TOKENS_FILE: directory.secretFile(SUBMIT_TOKENS),
        QS_LOG_REDIS_PASSWORD_FILE: directory.secretFile('log-writer'),
      },
    }),
    ...prepared.nodeNames.map((name, index) =>
      service({
        name,
        kind: 'scan',
        port: ports.nodes[index] ?? 0,
        fsync: 'everysec',
        users: null,
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
      users: null,
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
