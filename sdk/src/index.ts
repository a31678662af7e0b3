export type {
  Decided,
  Disputed,
  Fork,
  Genesis,
  Insufficient,
  Lagging,
  Receipt,
  Threshold,
  VoteGroup,
} from '@quorumscan/consensus'
export type { Activities, ActivitiesOptions, Activity } from './activities.ts'
export type { Checkpoint } from './checkpoint.ts'
export type { ClientErrorCode } from './client-error-codes.ts'
export type { Clock } from './clock.ts'
export type { CommandOutcome, Commands, Submission } from './commands.ts'
export { type ErrorCode, isQuorumscanError, type PaymentState, QuorumscanError } from './errors.ts'
export type { ServerErrorCode } from './generated/error-codes.ts'
export type {
  Absent,
  Found,
  LookupOptions,
  LookupOutcome,
  Mismatch,
  NameChange,
  NameEntry,
} from './lookups.ts'
export type { Names } from './names.ts'
export type { ScanReader } from './open-reader.ts'
export type {
  RegisterInput,
  RegisterOptions,
  RegisterProgress,
  Registration,
} from './registration-steps.ts'
export type { Renewal } from './renewal.ts'
export { createScan, type Scan, type ScanOptions } from './scan.ts'
export type { WebSocketConstructor, WebSocketLike } from './socket.ts'
export { createLocalStorageStore, createMemoryStore, type Store, type WebStorage } from './store.ts'
export type { TokenSource } from './token.ts'
export type { Update, Updates, UpdatesOptions } from './updates.ts'
export {
  createValidator,
  type OwnEntry,
  type OwnNames,
  type Validator,
  type ValidatorOptions,
} from './validator.ts'
export type {
  Balance,
  CallOptions,
  Coins,
  Contract,
  Subscription,
  Transaction,
  TransferResult,
  UserStatus,
  Wallet,
} from './wallet.ts'
