/** The services of a cluster: those of each simulated operator, as `plan` of operators makes them. Pure. */
import type { Machine, RedisUser } from '@quorumscan/operator'
import {
  LOOPBACK,
  logTokenOf,
  logTokensOf,
  nodeTokensOf,
  plan,
  planRedis,
  redisMemoryBudget,
} from '@quorumscan/operator'
import { type RedisService, redisSocketOf, type Service } from '@quorumscan/supervisor'
import type { ControlOptions } from '../control/control-options.ts'
import { faultSocketsOf } from '../faults/fault-sockets.ts'
import { SYNCHRONIZER, VALIDATOR } from './cluster-shape.ts'
import { urlOf } from './ports.ts'
import type { Prepared } from './prepare.ts'

export type TopologyInput = Omit<Machine, 'directory' | 'logFileOf'> &
  Pick<
    ControlOptions,
    'rateLimit' | 'diskFreeMibMin' | 'logKeepSeconds' | 'isLossAccepted' | 'redisMemoryMib'
  > & {
    readonly prepared: Prepared
    /** The user of the log's Redis and its rules, from `packages/log`. */
    readonly logUser: Omit<RedisUser, 'password'>
    /** The process that a debugger can attach to, at Node's default port. */
    readonly inspected?: string | undefined
  }

/** A Redis with the user of the log's Redis, under another name and in its own directory. */
export function planLogRedis(input: TopologyInput, name: string): RedisService {
  const user = { ...input.logUser, password: input.prepared.secrets.logWriter }
  const memoryBytes = memoryBytesOf(input)
  return planRedis(machineOf(input), { name, fsync: 'always', user, memoryBytes })
}

/** Of each Redis: they share the budget of the machine. */
function memoryBytesOf({ redisMemoryMib, prepared }: TopologyInput): number {
  const budget = redisMemoryBudget(redisMemoryMib === null ? undefined : String(redisMemoryMib))
  // The nodes, the validator, and the log of one synchronizer.
  const ownLog = prepared.genesis.ordering.driver === 'redis' ? 1 : 0
  return Math.floor(budget / (prepared.nodes.length + 1 + ownLog))
}

function machineOf(input: TopologyInput): Machine {
  const { directory } = input.prepared
  return { ...input, directory, logFileOf: directory.logFile }
}

/** In the order in which they start. They stop in the opposite order. */
export function planServices(input: TopologyInput): readonly Service[] {
  const { prepared } = input
  const { directory, ports, nodeNames, genesis } = prepared
  const machine = machineOf(input)
  const memoryBytes = memoryBytesOf(input)
  const members = genesis.ordering.driver === 'cometbft' ? genesis.ordering.validators : null

  const shared = (service: string, port: number) => ({
    QS_GENESIS: directory.genesisFile,
    QS_HOST: LOOPBACK,
    QS_PORT: String(port),
    QS_RATE_LIMIT: String(input.rateLimit),
    QS_NODES: prepared.nodes.map(({ name, url }) => `${name}=${url}`).join(','),
    QS_FAULT_SOCKETS: faultSocketsOf(input, service),
    ...(input.inspected === service && { NODE_OPTIONS: '--inspect' }),
  })
  const ofSynchronizer = (service: string, port: number) => ({
    ...shared(service, port),
    QS_DISK_FREE_MIB_MIN: String(input.diskFreeMibMin),
    QS_LOG_KEEP_SECONDS: String(input.logKeepSeconds),
  })
  const ofFollower = (name: string, port: number) => ({
    ...shared(name, port),
    QS_PUBLIC_URL: urlOf(port),
    // Where members order together, `plan` lets it follow its own synchronizer.
    ...(members === null && {
      QS_LOG: prepared.synchronizerUrl,
      QS_LOG_TOKEN_FILE: directory.secretFile(logTokenOf(name)),
    }),
  })

  const p2pOf = (name: string) => (ports.members[nodeNames.indexOf(name)] ?? ports.engine).p2p
  const addressOf = (name: string) => `${LOOPBACK}:${p2pOf(name)}`
  /** The synchronizer of an operator, where members order together. It is part of a node, or a node itself. */
  const synchronizerOf = (operator: string, name: string, owner: string, port: number) => {
    if (members === null) return null
    const peers = members.filter((other) => other.name !== operator)
    return {
      name,
      owner,
      port,
      enginePorts: [p2pOf(operator)],
      engineSockets: redisSocketOf(input.socketDirectory, `e-${operator}`),
      peers: peers.map((peer) => `${peer.nodeId}@${addressOf(peer.name)}`),
      followers: prepared.followerId === null ? [] : [prepared.followerId],
      variables: {
        ...ofSynchronizer(name, port),
        QS_ENGINE_ADDRESS: addressOf(operator),
        QS_FAULT_PEERS: peers.map((peer) => peer.name).join(','),
      },
    }
  }

  const nodes = prepared.nodes.flatMap(({ name, url }, index) => {
    const port = ports.nodes[index] ?? 0
    const synchronizerPort = ports.members[index]?.synchronizer ?? 0
    const redis = planRedis(machine, { name, fsync: 'everysec', user: null, memoryBytes })
    const variables = ofFollower(name, port)
    const synchronizer = synchronizerOf(name, `${name}.synchronizer`, name, synchronizerPort)
    return plan(machine, { runs: 'sv', name, port, url, redis, variables, synchronizer })
  })
  const validator = plan(machine, {
    runs: 'validator',
    name: VALIDATOR,
    port: ports.validator,
    url: prepared.validatorUrl,
    redis: planRedis(machine, { name: VALIDATOR, fsync: 'always', user: null, memoryBytes }),
    variables: {
      ...ofFollower(VALIDATOR, ports.validator),
      ...(input.isLossAccepted && { QS_ACCEPT_LOST_USERS: '1' }),
      QS_JWT_SECRET_FILE: directory.secretFile('jwt'),
      // The nodes of a local cluster have loopback addresses.
      QS_ALLOW_PRIVATE_ADDRESSES: '1',
      QS_SEEDS: prepared.nodes.map(({ url }) => url).join(','),
    },
    synchronizer: synchronizerOf(VALIDATOR, SYNCHRONIZER, SYNCHRONIZER, ports.synchronizer),
  })
  if (members !== null) {
    const [synchronizer, app] = validator
    return [synchronizer, ...nodes, app].filter((one) => one !== undefined)
  }
  const synchronizer = plan(machine, {
    runs: 'synchronizer',
    name: SYNCHRONIZER,
    port: ports.synchronizer,
    url: prepared.synchronizerUrl,
    redis: planLogRedis(input, SYNCHRONIZER),
    variables: {
      ...ofSynchronizer(SYNCHRONIZER, ports.synchronizer),
      QS_PEER_TOKENS_FILE: directory.secretFile(logTokensOf(SYNCHRONIZER)),
      QS_NODE_TOKENS_FILE: directory.secretFile(nodeTokensOf(SYNCHRONIZER)),
    },
    synchronizer: null,
  })
  return [...synchronizer, ...nodes, ...validator]
}
