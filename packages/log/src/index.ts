export { LOG_KEYS, LOG_RULES, LOG_USER } from './acl.ts'
export { type BlockStore, createBlockStore, type StoredBlock } from './block-store.ts'
export { watchChain } from './chain-check.ts'
export * from './check-entry.ts'
export type { LogStart } from './connection.ts'
export { createLogFeed, type LogFeed } from './feed.ts'
export * from './group.ts'
export { createLogClient, type LogClient } from './log-client.ts'
export { measureLogDisk, watchLogDisk } from './log-disk.ts'
export { LogConfigError, LogUnavailableError } from './log-errors.ts'
export type { OrderedLog } from './ordered-log.ts'
export { createOrderingClient } from './ordering-client.ts'
export {
  createGroupStore,
  openStoredGroup,
  readRecentGroups,
  readStoredEnd,
  type StoredGroup,
} from './recent-groups.ts'
export { type GroupHolder, prepareRepair } from './repair.ts'
export type { Cut, OffsetRange, RepairRefusal } from './repair-plan.ts'
export { trimLog } from './trim.ts'
export {
  DAMAGE_ADVICE,
  describeDamage,
  type LogDamage,
  verifyLog,
} from './verify.ts'
export { type ProvenGroup, readWholeLog, writeWholeLog } from './whole-log.ts'
export { createLogWriter, type LogWriter } from './writer.ts'
