export type { ChaosOptions } from './chaos/options.ts'
export type { RunState } from './chaos/runs.ts'
export { ClusterError } from './cluster-error.ts'
export type { AppRouter } from './control/router.ts'
export type { EdgeName, Fault, FaultSpec, LieKind } from './faults/fault-spec.ts'
export type { GenesisOverrides } from './genesis.ts'
export {
  type EdgeOptions,
  type FaultOptions,
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
