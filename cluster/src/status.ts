/** What a cluster says about itself. Pure. */

import { isAnswer } from '@quorumscan/errors/node-words'
import type { OrderingDriver } from '@quorumscan/operator'
import type { OrderingReport } from '@quorumscan/runtime'
import type { ServiceStatus } from '@quorumscan/supervisor'
import { type Budget, budgetsOf } from './budgets.ts'

export type NodeStatus = ServiceStatus & {
  readonly name: string
  /** As the node wrote it; of the entry at `offset`. */
  readonly recordTime: string | null
}

export type MemberStatus = NamedService & {
  /** As it told last; null while it does not answer. */
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

/** A status with or without what is known about faults. */
type Measured = Omit<ClusterStatus, 'nodes'> & {
  readonly nodes: readonly (NodeStatus & { readonly isCounted?: boolean })[]
  readonly atNodes?: AtNodes | null
}

/** What works and what can still be lost, a line each, and what a reader of the nodes got. */
export function describeMargin(status: Measured): readonly string[] {
  const { atNodes = null } = status
  const { lookups, registrations, ordering } = budgetsOf(status)
  const line = (name: string, { detail, verdict }: Budget) =>
    `${name.padEnd(15)}${detail}: ${verdict}`
  return [
    line('lookups', lookups),
    ...(atNodes === null ? [] : [`${' '.repeat(15)}${describeRead(atNodes)}`]),
    line('registrations', registrations),
    line('ordering', ordering),
  ]
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
