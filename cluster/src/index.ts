export { ClusterError } from './cluster-error.ts'
export type { ControlRouter } from './control/router.ts'
export type { GenesisOverrides } from './genesis.ts'
export {
  type ProcessOptions,
  type RunningCluster,
  type StartClusterOptions,
  startCluster,
} from './start-cluster.ts'
export type {
  ClusterStatus,
  NodeStatus,
  ProcessStateName,
  ServiceStatus,
} from './status.ts'
