/** What a cluster reports about itself. Pure. */
import type { ServiceStatus } from '@quorumscan/supervisor'
import type { Fault } from '../faults/fault-spec.ts'
import type { Cluster } from './cluster.ts'

type Status = ReturnType<Cluster['status']>
export type NodeStatus = Status['nodes'][number]
export type MemberStatus = Status['members'][number]
export type ClusterStatus = Omit<Status, 'nodes' | 'members'> & {
  readonly nodes: readonly NodeStatus[]
  readonly members: readonly MemberStatus[]
}
type NamedService = ServiceStatus & { readonly name: string }

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

/** Of the last minute; null where there was no answer. */
export type NodeStatistics = {
  /** Share of the comparable answers that agreed, 0 to 100. */
  readonly agreement: number | null
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  readonly lastError: string | null
}

export type LiveNode = NodeStatus &
  NodeStatistics & {
    /** Entries behind the most advanced node. */
    readonly lag: number | null
    readonly faults: readonly Fault[]
    /** Whether lookups can count on its vote: it is up, and nothing in force takes that from them. */
    readonly isCounted: boolean
  }

export type LiveStatus = Omit<ClusterStatus, 'nodes'> & {
  readonly nodes: readonly LiveNode[]
  /** All that are in force, those of validator and synchronizer, too. */
  readonly faults: readonly Fault[]
  /** What a reader of the nodes got last; null where nobody reads. */
  readonly atNodes: AtNodes | null
}

/** All services with their names: nodes, validator, synchronizer, and those of the nodes. */
export function servicesOf(
  status: Pick<ClusterStatus, 'nodes' | 'validator' | 'synchronizer' | 'members'>,
): readonly NamedService[] {
  return [
    ...status.nodes,
    { ...status.validator, name: 'validator' },
    { ...status.synchronizer, name: 'synchronizer' },
    ...status.members.map((member) => ({ ...member, name: `${member.name}.synchronizer` })),
  ]
}
