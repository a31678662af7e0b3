export { LOG_KEYS, LOG_RULES, LOG_STREAM_KEY, LOG_USER } from './acl.ts'
export {
  type BlockSeal,
  type BlockStore,
  createBlockStore,
  type StoredBlock,
} from './block-store.ts'
export { watchChain } from './chain-check.ts'
export { createLogFeed, type LogFeed } from './feed.ts'
export type { Witnesses } from './gate.ts'
export {
  decodeGroup,
  encodeGroup,
  type Group,
  type GroupFault,
  groupBytesOf,
  type LogGenesis,
  LogGroupError,
  openGroup,
  type SignedGroup,
  type StreamGroup,
  signGroup,
} from './group.ts'
export {
  createJudge,
  type EntryRefusal,
  isInTime,
  type Judge,
  type JudgedEntry,
  refusalByTime,
} from './judge-entry.ts'
export { createLogClient, type LogClient } from './log-client.ts'
export {
  LogConfigError,
  LogFencedError,
  LogForkError,
  LogUnavailableError,
} from './log-errors.ts'
export { type LogRoom, measureLogRoom, watchLogRoom } from './log-room.ts'
export type { LogStart } from './log-start.ts'
export type { OrderedLog, TrimBound } from './ordered-log.ts'
export { createLogReader, type LogReaderOptions } from './reader.ts'
export {
  createGroupKeeper,
  type KeptGroup,
  openKeptGroup,
  readKeptEnd,
  readRecentGroups,
} from './recent-groups.ts'
export { type KeepingFollower, prepareRepair } from './repair.ts'
export type { Cut, OffsetRange, Refusal } from './repair-plan.ts'
export { trimLog } from './trim.ts'
export {
  DAMAGE_ADVICE,
  describeDamage,
  type LogDamage,
  type LogVerdict,
  type VerifyLogOptions,
  verifyLog,
} from './verify.ts'
export { type ProvenGroup, readWholeLog, writeWholeLog } from './whole-log.ts'
export {
  createLogWriter,
  type LogWriter,
  type LogWriterOptions,
  type LogWriterState,
} from './writer.ts'
