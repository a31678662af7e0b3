/** The status of a cluster, as the control plane reports it. */
import { healthLabel } from '@quorumscan/errors/node-words'
import type { ServiceStatus } from '@quorumscan/supervisor'
import { dataOf } from '../faults/fault-spec.ts'
import type { NodeStatistics, Prober } from '../judge/watch/prober.ts'
import type { Cluster } from './cluster.ts'

export type ClusterStatus = ReturnType<Cluster['status']>
export type LiveStatus = ReturnType<typeof liveStatusOf>
type NamedService = ServiceStatus & { readonly name: string }

/** All services with their names: nodes, validator, synchronizer, and the synchronizers of members. */
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

const NO_STATISTICS: NodeStatistics = { agreement: null, p50Ms: null, p99Ms: null, lastError: null }

/** The status of a cluster, with the faults in force and what the prober measured. */
export function liveStatusOf(cluster: Pick<Cluster, 'status' | 'faults'>, prober: Prober) {
  const status = cluster.status()
  const faults = cluster.faults.active()
  const newest = Math.max(...status.nodes.map((node) => node.offset ?? 0))
  return {
    ...status,
    /** All in force, including those of the validator and the synchronizer. */
    faults,
    /** The latest lookup at the nodes; null where none is measured. */
    atNodes: prober.samples.recent().at(-1)?.atNodes ?? null,
    nodes: status.nodes.map((node) => {
      const own = faults.filter(({ spec }) => spec.node === node.name)
      const statistics = prober.statistics(node.name)
      const { lastError } = statistics
      const isHealthy = node.state === 'up' && (node.health ?? 'healthy') === 'healthy'
      return {
        ...node,
        detail: node.detail ?? judgementOf(node),
        // Measurements of a node that is no longer up are out of date.
        ...(node.state === 'up' ? statistics : { ...NO_STATISTICS, lastError }),
        /** Log entries that it lags the most advanced node. */
        lag: node.offset === null ? null : newest - node.offset,
        faults: own,
        /** It is up, and f + 1 processes judge it healthy, as far as enough of them answer (D-87). */
        isHealthy,
        /** Whether lookups can count on its vote: it is healthy, and no fault takes its vote. */
        isCounted: isHealthy && !own.some(({ spec }) => dataOf(spec).takesVote(spec)),
      }
    }),
  }
}

/** Why a node that is up does not count; null: it does. */
function judgementOf({ state, health }: ClusterStatus['nodes'][number]): string | null {
  return state !== 'up' || health === null || health === 'healthy'
    ? null
    : `to other processes it ${healthLabel[health]}`
}
