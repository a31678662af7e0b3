/** Makes the files of a cluster in its data directory at the first `up`; reads them afterwards. */

import type { Clock } from '@quorumscan/base'
import { nodeIdOf } from '@quorumscan/cometbft'
import type { DataDirectory, MemberFile, Role } from '@quorumscan/operator'
import {
  makeLogTokens,
  makeNodeTokens,
  makeSecret,
  ORDERING_DRIVERS,
  type OrderingDriver,
} from '@quorumscan/operator'
import { createGenesis, hashGenesis, makeMember } from '@quorumscan/operator/ceremony'
import {
  CommandError,
  makePrivateDirectory,
  readJson,
  unlessDamaged,
  writeFileAtomic,
  writeFileOnce,
  writeNewFile,
} from '@quorumscan/runtime'
import { type Genesis, membersOf, parseGenesis } from '@quorumscan/verifier'
import { z } from 'zod'
import type { ControlOptions } from '../control/control-options.ts'
import { CONTROL_PLANE, NODE_COUNT_MAX, SYNCHRONIZER, VALIDATOR } from './cluster-shape.ts'
import { drawBasePort, portsFrom, urlOf } from './ports.ts'

const DEFAULT_NODE_COUNT = 4

/** Null: the value of the cluster in the directory, or the default for a new cluster. */
export type PrepareInput = Shape & {
  readonly directory: DataDirectory
  readonly clock: Clock
  /** Whether ports are drawn again, as for a new cluster. Default false. */
  readonly isRedrawn?: boolean
}
type Shape = Pick<ControlOptions, 'nodeCount' | 'ordering' | 'basePort' | 'overrides'>

export type Prepared = Awaited<ReturnType<typeof prepareCluster>>

const PORT_MAX = 65_535
/** The version of the files of a data directory. */
const LAYOUT = 3

const clusterFile = z.object({
  version: z.literal(LAYOUT),
  nodeCount: z.int().min(1).max(NODE_COUNT_MAX),
  basePort: z.int().min(1).max(PORT_MAX),
  /** Missing in the files of clusters with one synchronizer. */
  ordering: z.enum(ORDERING_DRIVERS).default('redis'),
})
type ClusterFile = Readonly<z.infer<typeof clusterFile>>

/** @throws {CommandError} If the input contradicts the directory, or a port is taken. */
export async function prepareCluster(input: PrepareInput) {
  const { directory } = input
  makePrivateDirectory(directory.path)
  const { shape, hasDrawnPorts } = await decideShape(input)
  const { nodeCount, basePort, ordering: driver } = shape
  const ports = portsFrom(basePort, nodeCount)
  const nodeNames = Array.from({ length: nodeCount }, (_, index) => `sv-${index + 1}`)
  const genesis = loadOrCreateGenesis(input, { nodeNames, driver })
  const validator = makeLocal(input, 'validator', VALIDATOR)
  const areTogether = genesis.ordering.driver === 'cometbft'
  const others = areTogether ? [] : nodeNames
  const nodes = nodeNames.map((name, index) => ({ name, url: urlOf(ports.nodes[index] ?? 0) }))
  makeLogTokens(directory, SYNCHRONIZER, [VALIDATOR, CONTROL_PLANE, ...others])
  if (!areTogether) makeNodeTokens(directory, SYNCHRONIZER, nodes)
  else
    for (const node of nodes) {
      makeLogTokens(directory, node.name, [node.name])
      makeNodeTokens(directory, node.name, [node])
    }
  return {
    directory,
    nodeNames,
    ports,
    /** Whether this call drew the ports and stored them: no other start had these before. */
    hasDrawnPorts,
    nodes,
    validatorUrl: urlOf(ports.validator),
    synchronizerUrl: urlOf(ports.synchronizer),
    genesis,
    genesisHash: hashGenesis(genesis),
    /** The id of the validator's engine, which has no vote; null where one synchronizer orders. */
    followerId: areTogether ? nodeIdOf(validator.keys.engine) : null,
    secrets: {
      logWriter: makeSecret(directory, 'log-writer'),
      /** Signs development tokens (D-32). */
      jwt: makeSecret(directory, 'jwt'),
      /** Grants control of the cluster. */
      control: makeSecret(directory, 'control'),
    },
  }
}

async function decideShape(
  input: PrepareInput,
): Promise<{ readonly shape: ClusterFile; readonly hasDrawnPorts: boolean }> {
  const { directory } = input
  const stored = readJson(directory.clusterFile)
  if (stored === null) {
    const nodeCount = input.nodeCount ?? DEFAULT_NODE_COUNT
    const ordering = input.ordering ?? 'redis'
    const basePort = await drawBasePort(input.basePort, { nodeCount, ordering })
    const shape: ClusterFile = { version: LAYOUT, nodeCount, basePort, ordering }
    const hasDrawnPorts = writeNewFile(directory.clusterFile, JSON.stringify(shape))
    // Another start, at the same time, was first.
    return {
      shape: hasDrawnPorts ? shape : clusterFile.parse(readJson(directory.clusterFile)),
      hasDrawnPorts,
    }
  }
  const { version } = membersOf(stored)
  if (typeof version === 'number' && version !== LAYOUT)
    throw new CommandError(
      `${directory.path} holds a cluster of layout ${version}, and this quorumscan reads layout ${LAYOUT}: ` +
        'its genesis has another form, and no network can change its genesis. Nothing was changed. Start ' +
        'it with the quorumscan that made it, or start a new cluster with another --data-dir',
    )
  const existing = unlessDamaged(directory.clusterFile, () => clusterFile.parse(stored))
  const refuse = (has: string, wanted: string) => {
    const why = `${directory.path} holds a cluster ${has}, which its genesis fixes`
    throw new CommandError(`${why}; use another --data-dir for another ${wanted}`)
  }
  const { nodeCount, ordering } = existing
  if ((input.nodeCount ?? nodeCount) !== nodeCount) refuse(`of ${nodeCount} nodes`, 'size')
  if ((input.ordering ?? ordering) !== ordering) refuse(`with --ordering ${ordering}`, 'ordering')
  const isAsStored = input.basePort === null || input.basePort === existing.basePort
  if (isAsStored && input.isRedrawn !== true) return { shape: existing, hasDrawnPorts: false }
  const moved = { ...existing, basePort: await drawBasePort(input.basePort, existing) }
  writeFileAtomic(directory.clusterFile, JSON.stringify(moved))
  return { shape: moved, hasDrawnPorts: true }
}

function loadOrCreateGenesis(
  input: PrepareInput,
  { nodeNames, driver }: { readonly nodeNames: readonly string[]; readonly driver: OrderingDriver },
): Genesis {
  const { directory, overrides } = input
  if (overrides !== null && readJson(directory.genesisFile) !== null)
    throw new CommandError(
      `${directory.path} already has a genesis; --genesis-overrides is for a new cluster`,
    )
  const text = writeFileOnce(directory.genesisFile, () => {
    const members: MemberFile[] = nodeNames.map((name) => makeLocal(input, 'super-validator', name))
    if (driver === 'redis') members.push(makeLocal(input, 'synchronizer', SYNCHRONIZER))
    const genesis = createGenesis(members, { driver, overrides: overrides ?? {} })
    return `${JSON.stringify(genesis, null, 2)}\n`
  })
  return unlessDamaged(directory.genesisFile, () => parseGenesis(JSON.parse(text)))
}

function makeLocal<R extends Role>({ directory, clock }: PrepareInput, role: R, name: string) {
  const createdAtMicros = clock.nowMicros()
  return makeMember(directory, role, { name, createdAtMicros, url: null, engineAddress: null })
}
