/** Makes what a cluster keeps in its data directory, at the first `up`; afterwards reads it. */
import {
  type Clock,
  createKeyPair,
  keyPairFromSeed,
  randomHex,
  systemRandom,
} from '@quorumscan/base'
import { type Genesis, parseGenesis } from '@quorumscan/consensus'
import { ClusterError } from './cluster-error.ts'
import {
  type DataDirectory,
  makePrivateDirectory,
  readJson,
  writeFileAtomic,
  writeFileOnce,
} from './data-directory.ts'
import { createGenesis, type GenesisOverrides, hashGenesis } from './genesis.ts'
import { drawBasePort, type Ports, portsFrom } from './ports.ts'

const DEFAULT_NODE_COUNT = 4
/** Its name as a service. */
export const VALIDATOR = 'validator'
/** Its name among those who follow the log. */
export const CONTROL_PLANE = 'control-plane'
/** More SVs than this do not start on one machine in a useful time. */
export const NODE_COUNT_MAX = 13

export type PrepareInput = {
  readonly directory: DataDirectory
  /** Null: what the directory holds, or the default for a new one. */
  readonly nodeCount: number | null
  readonly basePort: number | null
  /** Only for a new cluster. */
  readonly overrides: GenesisOverrides | null
  readonly clock: Clock
}

export type Prepared = {
  readonly directory: DataDirectory
  readonly nodeNames: readonly string[]
  readonly ports: Ports
  readonly genesis: Genesis
  readonly genesisHash: string
  readonly secrets: Secrets
}

type Secrets = {
  readonly logWriter: string
  /** 32 bytes in hex; signs development tokens (D-32). */
  readonly jwt: string
  /** Whoever has it may control the cluster. */
  readonly control: string
}

/** Of what lies in a data directory, and how. */
const LAYOUT = 2

type ClusterFile = {
  readonly version: typeof LAYOUT
  readonly nodeCount: number
  readonly basePort: number
}

/** @throws {ClusterError} If the wishes contradict what the directory holds, or a port is taken. */
export async function prepareCluster(input: PrepareInput): Promise<Prepared> {
  const { directory } = input
  makePrivateDirectory(directory.path)
  const { nodeCount, basePort } = await decideShape(input)
  const nodeNames = Array.from({ length: nodeCount }, (_, index) => `sv-${index + 1}`)
  const genesis = loadOrCreateGenesis(input, nodeNames)
  makeKey(directory, 'validator.participant')
  makeLogTokens(directory, [...nodeNames, VALIDATOR, CONTROL_PLANE])
  return {
    directory,
    nodeNames,
    ports: portsFrom(basePort, nodeCount),
    genesis,
    genesisHash: hashGenesis(genesis),
    secrets: {
      logWriter: makeSecret(directory, 'log-writer'),
      jwt: makeSecret(directory, 'jwt'),
      control: makeSecret(directory, 'control'),
    },
  }
}

async function decideShape(input: PrepareInput): Promise<ClusterFile> {
  const { directory } = input
  const existing = readJson(directory.clusterFile) as ClusterFile | null
  if (existing === null) {
    const nodeCount = input.nodeCount ?? DEFAULT_NODE_COUNT
    const basePort = await drawBasePort(input.basePort, nodeCount)
    const shape: ClusterFile = { version: LAYOUT, nodeCount, basePort }
    return JSON.parse(writeFileOnce(directory.clusterFile, () => JSON.stringify(shape)))
  }
  if (existing.version !== LAYOUT)
    throw new ClusterError(
      `${directory.path} holds a cluster of layout ${existing.version}, and this quorumscan reads layout ${LAYOUT}: ` +
        'its genesis says nothing of ordering, and no network can change its genesis. Nothing was changed. Start ' +
        'it with the quorumscan that made it, or a new cluster with another --data-dir',
    )
  if (input.nodeCount !== null && input.nodeCount !== existing.nodeCount)
    throw new ClusterError(
      `${directory.path} holds a cluster of ${existing.nodeCount} nodes, which its genesis fixes; ` +
        'use another --data-dir for another size',
    )
  if (input.basePort === null || input.basePort === existing.basePort) return existing
  const moved = { ...existing, basePort: await drawBasePort(input.basePort, existing.nodeCount) }
  writeFileAtomic(directory.clusterFile, JSON.stringify(moved))
  return moved
}

function loadOrCreateGenesis(input: PrepareInput, nodeNames: readonly string[]): Genesis {
  const { directory } = input
  if (input.overrides !== null && readJson(directory.genesisFile) !== null)
    throw new ClusterError(
      `${directory.path} has its genesis already; --genesis-overrides is for a new cluster`,
    )
  const text = writeFileOnce(directory.genesisFile, () => {
    const genesis = createGenesis({
      nodes: nodeNames.map((name) => ({
        name,
        scanKey: makeKey(directory, `${name}.scan`),
        operatorKey: makeKey(directory, `${name}.operator`),
      })),
      ordering: { driver: 'redis', key: makeKey(directory, 'synchronizer') },
      recordTime: input.clock.nowMicros(),
      overrides: input.overrides ?? {},
      random: systemRandom,
    })
    return `${JSON.stringify(genesis, null, 2)}\n`
  })
  return parseGenesis(JSON.parse(text))
}

/** Makes the key unless it is there, and returns its public half. */
function makeKey(directory: DataDirectory, name: string): string {
  return keyPairFromSeed(writeFileOnce(directory.keyFile(name), () => createKeyPair().seed))
    .publicKey
}

/** A token of its own for each process that follows the log, and all of them in a file for the synchronizer. */
function makeLogTokens(directory: DataDirectory, followers: readonly string[]): void {
  const tokens = followers.map((name) => makeSecret(directory, logTokenOf(name)))
  writeFileAtomic(directory.secretFile(LOG_TOKENS), `${tokens.join('\n')}\n`)
}

/** Secrets of the data directory, by file: what makes its processes peers of the synchronizer. */
export const LOG_TOKENS = 'log-tokens'
export function logTokenOf(name: string): string {
  return `log-token-${name}`
}

function makeSecret(directory: DataDirectory, name: string): string {
  return writeFileOnce(directory.secretFile(name), () => randomHex(systemRandom, 32))
}
