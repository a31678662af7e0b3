/** What a cluster reports about itself. Pure. */
import type { OrderingDriver } from '@quorumscan/operator'
import type { OrderingReport } from '@quorumscan/runtime'
import type { ServiceStatus } from '@quorumscan/supervisor'
import type { Fault } from '../faults/fault-spec.ts'

type NamedService = ServiceStatus & { readonly name: string }

export type NodeStatus = NamedService & {
  /** As the node wrote it; of the entry at `offset`. */
  readonly recordTime: string | null
}

export type MemberStatus = NamedService & {
  /** As it reported last; null while it does not answer. */
  readonly ordering: OrderingReport | null
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
