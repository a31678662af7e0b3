export { RECORD_TIME_AHEAD_MICROS_MAX } from './ingest/ingest.ts'
export type { ActivityBody, ActivityPage } from './reads/activity-reads.ts'
export type { JoinedContracts } from './reads/joined-reads.ts'
export type { DocumentEntity, Lookups } from './reads/lookups.ts'
export type { Pinned } from './reads/moments.ts'
export type { NamedBody } from './reads/reads.ts'
export { readStoredOffset } from './reads/stored-head.ts'
export type {
  HistoryStep,
  UpdateHistory,
  UpdatePortion,
  UpdateRange,
} from './reads/update-reads.ts'
export {
  Replica,
  type ReplicaOptions,
  type ReplicaState,
} from './replica.ts'
export { measureProtocol, measureReplica } from './replica-metrics.ts'
export { type StateDivergence, stateDiverged } from './state-tree/state-follower.ts'
export type { StateReads } from './state-tree/state-service.ts'
export { deleteReplica } from './storage/delete-replica.ts'
export { ReplicaStateError } from './storage/head.ts'
export { REPLICA_REDIS_OPTIONS } from './storage/keys.ts'
export type { StoredEvent, StoredUpdate } from './storage/update-codec.ts'
