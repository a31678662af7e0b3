/** What a cluster says about itself, and what it can still lose. Pure. */
import type { OrderingDriver } from './genesis.ts'
import type { NodeState } from './node-words.ts'

export type ServiceStatus = {
  readonly url: string
  readonly state: NodeState
  /** Null while it does not run. */
  readonly pid: number | null
  readonly redisPid: number | null
  /** Why it is not `up`, where more is known than the state says. */
  readonly detail: string | null
}

export type NodeStatus = ServiceStatus & {
  readonly name: string
  readonly offset: number | null
  /** As the node wrote it; of the entry at `offset`. */
  readonly recordTime: string | null
}

export type MemberStatus = NamedService & {
  /** As it told last; null while it does not answer. */
  readonly ordering: OrderingReport | null
}

export type OrderingReport = {
  /** Of its newest block. */
  readonly height: number
  /** In which the block before was decided; above 0, a proposer was away. */
  readonly round: number | null
  /** Members whose engines are connected to its own. */
  readonly connected: readonly string[]
  /** Members whose votes on that block were missed. */
  readonly absent: readonly string[]
}

type NamedService = ServiceStatus & { readonly name: string }

export type ClusterStatus = {
  readonly cluster: {
    readonly n: number
    readonly f: number
    readonly readThreshold: number
    readonly confirmThreshold: number
    readonly genesisHash: string
    readonly ordering: OrderingDriver
  }
  readonly nodes: readonly NodeStatus[]
  readonly validator: ServiceStatus
  /** The one that the validator follows. */
  readonly synchronizer: ServiceStatus
  /** Where all order together: the synchronizer of each node, by the node's name. */
  readonly members: readonly MemberStatus[]
  readonly console: { readonly url: string } | null
  readonly dataDir: string
}

/** All services with their names: nodes, validator, synchronizer, and those of the nodes. */
export function servicesOf<Node extends NamedService>(
  status: Pick<ClusterStatus, 'validator' | 'synchronizer' | 'members'> & {
    readonly nodes: readonly Node[]
  },
): readonly NamedService[] {
  return [
    ...status.nodes,
    { ...status.validator, name: 'validator' },
    { ...status.synchronizer, name: 'synchronizer' },
    ...status.members.map((member) => ({ ...member, name: `${member.name}.synchronizer` })),
  ]
}

/** Whose votes the most advanced member missed. */
export function missedVotes({ members }: Pick<ClusterStatus, 'members'>): readonly string[] {
  const reports = members.flatMap(({ ordering }) => ordering ?? [])
  const [newest] = reports.toSorted((one, other) => other.height - one.height)
  return newest?.absent ?? []
}

/** Whether there is who puts entries in order: one synchronizer, or so many members as make a block. */
export function isOrdering(
  status: Pick<ClusterStatus, 'cluster' | 'synchronizer' | 'members'>,
): boolean {
  const { members, cluster } = status
  if (members.length === 0) return status.synchronizer.state === 'up'
  return upCount(members) >= cluster.confirmThreshold
}

function upCount(services: readonly ServiceStatus[]): number {
  return services.filter(({ state }) => state === 'up').length
}

/** Whether names can be looked up by quorum. */
export function canLookUp(status: Measured): boolean {
  return (
    marginOf(status).lookups >= 0 &&
    isOrdering(status) &&
    isThere(status.synchronizer) &&
    isThere(status.validator)
  )
}

/** Whether it may answer: it runs, and has started. */
function isThere({ state }: ServiceStatus): boolean {
  return state === 'up' || state === 'catching-up'
}

/** How many more nodes may be lost before something stops; negative when it has stopped. */
type Margin = { readonly lookups: number; readonly confirmations: number }

/** Counts the nodes that are up against the thresholds. */
function marginOf(status: Measured): Margin {
  const up = upCount(status.nodes)
  return {
    lookups: countedOf(status) - status.cluster.readThreshold,
    confirmations: up - status.cluster.confirmThreshold,
  }
}

/** A status with or without what is known about faults. */
type Measured = Omit<ClusterStatus, 'nodes'> & {
  readonly nodes: readonly (NodeStatus & { readonly isCounted?: boolean })[]
}

/** Nodes that are up and not known to be broken in a way that takes their vote. */
function countedOf(status: Measured): number {
  return status.nodes.filter((node) => node.isCounted ?? node.state === 'up').length
}

/** What can still be lost, a sentence each for lookups and registrations, and what is lost beside nodes. */
export function describeMargin(status: Measured): readonly string[] {
  const margin = marginOf(status)
  const up = upCount(status.nodes)
  const counted = countedOf(status)
  const { n, readThreshold, confirmThreshold } = status.cluster
  const have = `${up} of ${n} nodes up`
  const broken = counted < up ? `, ${up - counted} not to be counted on` : ''
  return [
    `lookups        ${have}${broken}, ${readThreshold} must agree: ${inWords(margin.lookups)}`,
    `registrations  ${have}, ${confirmThreshold} must confirm: ${inWords(margin.confirmations)}`,
    ...(status.members.length === 0
      ? []
      : [
          `ordering       ${upCount(status.members)} of ${n} members up, ${confirmThreshold} must vote: ` +
            inWords(upCount(status.members) - confirmThreshold),
        ]),
    ...(isOrdering(status)
      ? []
      : ['The log stands still: nothing can be registered, and lookups soon are too old.']),
    ...(isOrdering(status) && status.synchronizer.state !== 'up'
      ? ['The synchronizer beside the validator is not up: nobody is registered through it.']
      : []),
    ...(status.validator.state === 'up'
      ? []
      : isThere(status.validator)
        ? ['The validator is not ready: names are looked up, but nobody is registered.']
        : ['The validator is not up: names can be looked up at the nodes, but not by quorum.']),
  ]
}

/** Size and thresholds, a sentence each. */
export function describeSize(cluster: Omit<ClusterStatus['cluster'], 'genesisHash'>): string[] {
  const { n, f, readThreshold, confirmThreshold } = cluster
  return [
    `n = ${n}, f = ${f}: an answer needs ${readThreshold}, an operator action ${confirmThreshold}`,
    ...(f === 0 ? ['Below 4 nodes no fault is tolerated.'] : []),
  ]
}

function inWords(margin: number): string {
  if (margin < 0) return 'quorum lost'
  return margin === 0 ? 'no more can be lost' : `${margin} more can be lost`
}
