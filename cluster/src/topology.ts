/** Which processes make up a cluster, and how each is started. Pure. */

import type { DataDirectory, RedisUser } from '@quorumscan/operator'
import {
  faultSocketsOf,
  logTokenOf,
  logTokensOf,
  type Machine,
  planRedis,
  planService,
} from '@quorumscan/operator'
import { memberKeyFile } from '@quorumscan/operator/ceremony'
import { type RedisService, redisSocketOf, type Service, urlOfSocket } from '@quorumscan/supervisor'
import { SYNCHRONIZER, VALIDATOR } from './cluster-shape.ts'
import type { EnginePorts } from './ports.ts'
import type { Prepared } from './prepare.ts'

export type TopologyInput = Omit<Machine, 'directory' | 'logFileOf'> & {
  readonly prepared: Prepared
  /** Units per second and client (D-33). */
  readonly rateLimit: number
  /** What stays free on the disk, in MiB. */
  readonly diskFreeMibMin: number
  /** What stays of the log before a snapshot. */
  readonly logKeepSeconds: number
  /** Whether a validator that lost its users begins anew. */
  readonly isLossAccepted: boolean
  /** The user of the log's Redis and its rules, from `packages/log`. */
  readonly logUser: Omit<RedisUser, 'password'>
}

const HOST = '127.0.0.1'

/** A Redis with the user of the log's, under another name, in a directory of its own. */
export function planLogRedis(input: TopologyInput, name: string): RedisService {
  return planRedis(machineOf(input), { name, fsync: 'always', user: logUserOf(input) })
}

function machineOf(input: TopologyInput): Machine {
  const { directory } = input.prepared
  return { ...input, directory, logFileOf: directory.logFile }
}

function logUserOf({ prepared, logUser }: TopologyInput): RedisUser {
  return { ...logUser, password: prepared.secrets.logWriter }
}

/** In the order in which they start; they stop in the opposite one. */
export function planServices(input: TopologyInput): readonly Service[] {
  const { prepared } = input
  const { directory, ports } = prepared
  const machine = machineOf(input)
  const urlOf = (port: number) => `http://${HOST}:${port}`
  const nodeUrls = ports.nodes.map(urlOf)
  const socketOf = (name: string) => redisSocketOf(input.socketDirectory, name)

  const service = (options: {
    name: string
    kind: Service['kind']
    redis: RedisService
    node?: string
    port: number
    engine?: { readonly ports: EnginePorts; readonly directory: string }
    env: Record<string, string>
  }): Service => {
    const { name, port, engine } = options
    return planService(machine, {
      ...options,
      engineDirectory: engine?.directory ?? null,
      url: urlOf(port),
      ports: engine === undefined ? [port] : [port, engine.ports.p2p],
      env: {
        QS_GENESIS: directory.genesisFile,
        QS_HOST: HOST,
        QS_PORT: String(port),
        QS_RATE_LIMIT: String(input.rateLimit),
        QS_NODES: prepared.nodeNames.map((node, at) => `${node}=${nodeUrls[at]}`).join(','),
        QS_FAULT_SOCKETS: faultSocketsOf(input, name),
        ...options.env,
      },
    })
  }

  const redisOf = (name: string, fsync: 'always' | 'everysec') =>
    planRedis(machine, { name, fsync, user: null })
  const validatorRedis = redisOf(VALIDATOR, 'always')
  const synchronizerEnv = (tokens: string, redisDirectory: string) => ({
    QS_LOG_DIRECTORY: redisDirectory,
    QS_DISK_FREE_MIB_MIN: String(input.diskFreeMibMin),
    QS_LOG_KEEP_SECONDS: String(input.logKeepSeconds),
    QS_PEER_TOKENS_FILE: directory.secretFile(logTokensOf(tokens)),
  })
  const replicaEnv = (name: string, synchronizerPort: number) => ({
    QS_REDIS: urlOfSocket(socketOf(name)),
    QS_LOG: urlOf(synchronizerPort),
    QS_LOG_TOKEN_FILE: directory.secretFile(logTokenOf(name)),
  })

  const singleSynchronizer = () => {
    const redis = planLogRedis(input, SYNCHRONIZER)
    return service({
      name: SYNCHRONIZER,
      kind: 'synchronizer',
      redis,
      port: ports.synchronizer,
      env: {
        ...synchronizerEnv(SYNCHRONIZER, redis.redisDirectory),
        QS_KEY_FILE: memberKeyFile(directory, SYNCHRONIZER, 'synchronizer'),
        QS_LOG_REDIS: urlOfSocket(redis.redisAddress.path),
        QS_LOG_REDIS_PASSWORD_FILE: directory.secretFile('log-writer'),
      },
    })
  }

  const engines = planEngines(input)
  /** A synchronizer with an engine, beside what follows it. */
  const member = (options: {
    name: string
    node?: string
    engine: string
    redis: RedisService
    port: number
    tokens: string
  }) => {
    const { redis } = options
    const { env, ...engine } = engines(options.engine)
    return service({
      ...options,
      kind: 'synchronizer',
      engine,
      env: {
        ...synchronizerEnv(options.tokens, redis.redisDirectory),
        QS_REDIS: urlOfSocket(redis.redisAddress.path),
        QS_ENGINE_SOCKETS: socketOf(`e-${options.engine}`),
        ...env,
      },
    })
  }

  const isTogether = prepared.genesis.ordering.driver === 'cometbft'
  return [
    isTogether
      ? member({
          name: SYNCHRONIZER,
          engine: VALIDATOR,
          redis: validatorRedis,
          port: ports.synchronizer,
          tokens: SYNCHRONIZER,
        })
      : singleSynchronizer(),
    ...prepared.nodeNames.flatMap((name, index) => {
      const redis = redisOf(name, 'everysec')
      const memberPort = ports.members[index]?.synchronizer ?? 0
      const scan = service({
        name,
        kind: 'scan',
        redis,
        port: ports.nodes[index] ?? 0,
        env: {
          ...replicaEnv(name, isTogether ? memberPort : ports.synchronizer),
          QS_NODE_NAME: name,
          QS_SCAN_KEY_FILE: memberKeyFile(directory, name, 'scan'),
          QS_OPERATOR_KEY_FILE: memberKeyFile(directory, name, 'operator'),
          QS_PUBLIC_URL: nodeUrls[index] ?? '',
          QS_SNAPSHOTS: directory.snapshotDirectory(name),
        },
      })
      if (!isTogether) return [scan]
      const own = { node: name, engine: name, redis, port: memberPort, tokens: name }
      return [scan, member({ name: `${name}.synchronizer`, ...own })]
    }),
    service({
      name: VALIDATOR,
      kind: 'validator',
      redis: validatorRedis,
      port: ports.validator,
      env: {
        ...replicaEnv(VALIDATOR, ports.synchronizer),
        ...validatorEnv(directory),
        ...(input.isLossAccepted ? { QS_ACCEPT_LOST_USERS: '1' } : {}),
        QS_PUBLIC_URL: urlOf(ports.validator),
        QS_SEEDS: nodeUrls.join(','),
      },
    }),
  ]
}

/** What each engine is told of itself and of the others: a vote for each node, none for the validator's. */
function planEngines({ prepared, engineProgram }: TopologyInput) {
  const { directory, ports, nodeNames, genesis, followerId } = prepared
  const members = genesis.ordering.driver === 'cometbft' ? genesis.ordering.validators : []
  const portsOf = (name: string) => ports.members[nodeNames.indexOf(name)] ?? ports.engine
  const addressOf = (name: string) => `${HOST}:${portsOf(name).p2p}`
  return (name: string) => {
    const isMember = nodeNames.includes(name)
    const peers = members.filter((other) => other.name !== name)
    const home = directory.engineDirectory(name)
    return {
      directory: home,
      ports: portsOf(name),
      env: {
        QS_COMETBFT: engineProgram ?? '',
        QS_ENGINE_HOME: home,
        QS_ENGINE_ADDRESS: addressOf(name),
        QS_ENGINE_PEERS: peers.map((peer) => `${peer.nodeId}@${addressOf(peer.name)}`).join(','),
        QS_FAULT_PEERS: peers.map((peer) => peer.name).join(','),
        QS_ENGINE_FOLLOWERS: isMember ? (followerId ?? '') : '',
        QS_ENGINE_KEY_FILE: memberKeyFile(directory, name, 'engine'),
        ...(isMember ? { QS_VOTING_KEY_FILE: memberKeyFile(directory, name, 'voting') } : {}),
      },
    }
  }
}

function validatorEnv(directory: DataDirectory) {
  return {
    QS_PARTICIPANT_KEY_FILE: memberKeyFile(directory, VALIDATOR, 'participant'),
    QS_JWT_SECRET_FILE: directory.secretFile('jwt'),
    // All nodes of a local cluster live on loopback addresses.
    QS_ALLOW_PRIVATE_ADDRESSES: '1',
  }
}
