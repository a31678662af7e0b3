/** The status of a cluster, as the control plane reports it. */
import type { ServiceStatus } from '@quorumscan/supervisor'
import type { Cluster } from './cluster.ts'

export type ClusterStatus = ReturnType<Cluster['status']>
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
