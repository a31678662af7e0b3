export { readStoredOffset } from './connection.ts'
export { RECORD_TIME_AHEAD_MICROS_MAX } from './ingest/ingest.ts'
export type { ListPage, Position } from './reads/contracts.ts'
export type { DocumentEntity } from './reads/lookups.ts'
export type { Pinned } from './reads/pins.ts'
export type {
  HistoryStep,
  UpdateHistory,
  UpdatePortion,
  UpdateRange,
} from './reads/update-reads.ts'
export { openReplica, type Replica, type ReplicaState } from './replica.ts'
export { measureReplica } from './replica-metrics.ts'
export { openReplicaReads, type ReplicaReads } from './replica-reads.ts'
export type { StateReads } from './state-tree/state-service.ts'
export { stateDiverged } from './state-tree/tree-updater.ts'
export { completionOf } from './storage/completions.ts'
export { deleteReplica } from './storage/delete-replica.ts'
export { REPLICA_REDIS_OPTIONS } from './storage/keys.ts'
export type { StoredEvent, StoredUpdate } from './storage/update-codec.ts'
