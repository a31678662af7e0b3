/** What a cluster says about itself, and what it can still lose. Pure. */
import type { OrderingDriver } from './genesis.ts'
import { isAnswer, type NodeState } from './node-words.ts'

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

/** How a lookup at the nodes themselves ended. */
export type AtNodes = {
  /** `verified` … */
  readonly kind: string
  readonly latencyMs: number
  readonly needed: number
  /** Who signed the state that proves the answer. */
  readonly signers: readonly string[]
  readonly asked: readonly { readonly node: string; readonly reason: string }[]
}

type NamedService = ServiceStatus & { readonly name: string }

export type ClusterStatus = {
  readonly cluster: {
    readonly n: number
    readonly f: number
    readonly readThreshold: number
    readonly confirmThreshold: number
    /** Of members that order together. */
    readonly blockThreshold: number
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
  return upCount(members) >= cluster.blockThreshold
}

function upCount(services: readonly ServiceStatus[]): number {
  return services.filter(({ state }) => state === 'up').length
}

/** Whether a reader of the nodes gets answers: as one that reads all the time sees it, or by what is up. */
export function canLookUp(status: Measured): boolean {
  const { atNodes = null } = status
  if (atNodes !== null) return isAnswer(atNodes.kind)
  return marginOf(status).lookups >= 0 && isOrdering(status)
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
  readonly atNodes?: AtNodes | null
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
  const { n, readThreshold, confirmThreshold, blockThreshold } = status.cluster
  const have = `${up} of ${n} nodes up`
  const { atNodes = null } = status
  const lookups = describeLookups(margin.lookups, atNodes)
  const broken = counted < up ? `, ${up - counted} not to be counted on` : ''
  return [
    `lookups        ${have}${broken}, ${readThreshold} must agree: ${lookups}`,
    ...(atNodes === null ? [] : [`               ${describeRead(atNodes)}`]),
    `registrations  ${have}, ${confirmThreshold} must confirm: ${inWords(margin.confirmations)}`,
    ...(status.members.length === 0
      ? []
      : [
          `ordering       ${upCount(status.members)} of ${n} members up, ${blockThreshold} must vote: ` +
            inWords(upCount(status.members) - blockThreshold),
        ]),
    ...(isOrdering(status)
      ? []
      : ['The log stands still: nothing can be registered, and lookups soon are too old.']),
    ...(isOrdering(status) && status.synchronizer.state !== 'up'
      ? ['The synchronizer beside the validator is not up: nobody is registered through it.']
      : []),
    ...(status.validator.state === 'up' ? [] : [describeValidator(status.validator)]),
  ]
}

/** What the reader got counts for more than what is up: what those sign that nobody can count on may be true as well. */
function describeLookups(margin: number, atNodes: AtNodes | null): string {
  if (atNodes === null || isAnswer(atNodes.kind) === margin >= 0) return inWords(margin)
  return isAnswer(atNodes.kind) ? 'answered all the same' : 'not answered all the same'
}

/** What is lost without it. The nodes are read as before. */
function describeValidator({ state }: ServiceStatus): string {
  // It answers lookups before it is ready.
  return state === 'catching-up'
    ? 'The validator is not ready: nobody is registered through it.'
    : 'The validator is not up: nobody is registered, or looks names up, through it.'
}

/** What a reader of the nodes got. */
function describeRead({ kind, needed, signers, asked, latencyMs }: AtNodes): string {
  if (isAnswer(kind))
    return `a reader of the nodes: ${kind}, ${signers.length} signed, ${needed} needed, ${Math.round(latencyMs)} ms`
  const why = asked.map(({ node, reason }) => `${node}: ${reason}`).join(', ')
  return `a reader of the nodes: ${kind}${why === '' ? '' : ` (${why})`}`
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
