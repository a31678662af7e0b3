export type { ActivityBody, ActivityPage } from './activity-reads.ts'
export { ReplicaStateError } from './head.ts'
export type { JoinedContracts } from './joined-reads.ts'
export { REPLICA_REDIS_OPTIONS } from './keys.ts'
export type { NamedBody } from './reads.ts'
export {
  type DocumentEntity,
  type HistoryStep,
  type Pinned,
  Replica,
  type ReplicaOptions,
  type ReplicaState,
} from './replica.ts'
export type { StoredEvent, StoredUpdate } from './update-codec.ts'
export type { UpdatePortion, UpdateRange } from './update-reads.ts'
