/** The status of a cluster with measurements. */
import { takesVote } from '../faults/fault-spec.ts'
import type { Cluster } from '../rig/cluster.ts'
import type { NodeStatistics, Prober } from './prober.ts'

const NO_STATISTICS: NodeStatistics = { agreement: null, p50Ms: null, p99Ms: null, lastError: null }

export type Watched = Pick<Cluster, 'status'> & {
  readonly faults: Pick<Cluster['faults'], 'active'>
}
export type LiveStatus = ReturnType<typeof liveStatusOf>

/** The status of a cluster, with the faults in force and what the prober measured. */
export function liveStatusOf(cluster: Watched, prober: Prober | null) {
  const status = cluster.status()
  const faults = cluster.faults.active()
  const newest = Math.max(...status.nodes.map((node) => node.offset ?? 0))
  return {
    ...status,
    /** All in force, including those of the validator and the synchronizer. */
    faults,
    /** The latest lookup at the nodes; null where none is measured. */
    atNodes: prober?.samples.recent().at(-1)?.atNodes ?? null,
    nodes: status.nodes.map((node) => {
      const own = faults.filter(({ spec }) => spec.node === node.name)
      const statistics = prober?.statistics(node.name) ?? NO_STATISTICS
      const { lastError } = statistics
      return {
        ...node,
        // Measurements of a node that is no longer up are out of date.
        ...(node.state === 'up' ? statistics : { ...NO_STATISTICS, lastError }),
        /** Log entries that it lags the most advanced node. */
        lag: node.offset === null ? null : newest - node.offset,
        faults: own,
        /** Whether lookups can count on its vote: it is up, and no fault takes its vote. */
        isCounted: node.state === 'up' && !own.some(({ spec }) => takesVote(spec)),
      }
    }),
  }
}
