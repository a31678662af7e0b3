export type { Fork, Insufficient, Lagging } from '@quorumscan/reader'
export type {
  CertifiedNodeStatus,
  CertifiedReaderStatus,
  CertifiedReceipt,
} from '@quorumscan/reader/certified'
export type { Genesis, Threshold } from '@quorumscan/verifier'
export type { Activities, ActivitiesOptions, Activity } from './activities/activities.ts'
export type { ClientErrorCode } from './client-error-codes.ts'
export { isErrorCode } from './error-codes.ts'
export { type ErrorCode, isQuorumscanError, type PaymentState, QuorumscanError } from './errors.ts'
export type { ServerErrorCode } from './generated/error-codes.ts'
export type { WebSocketConstructor, WebSocketLike } from './http/socket.ts'
export type { TokenSource } from './http/token.ts'
export type { Traceparent } from './http/traced-fetch.ts'
export type { CommandOutcome, Commands, Submission } from './ledger/commands.ts'
export type { Update, Updates, UpdatesOptions } from './ledger/updates.ts'
export type {
  Absent,
  AnswerFacts,
  Disputed,
  Expired,
  Found,
  FoundEntry,
  Invalid,
  ListOptions,
  LookupOptions,
  LookupOutcome,
  Mismatch,
  NameChange,
  NameEntry,
  Names,
  ResolveOptions,
  Unverified,
  VoteGroup,
  Watched,
  WatchOptions,
} from './names/lookups.ts'
export { isName, normalizeName } from './names/name-rules.ts'
export { type ParsedName, parseName } from './names/parse-name.ts'
export type { Writer } from './names/writer.ts'
export { addAmounts, compareAmounts } from './platform/amount.ts'
export type { Checkpoint } from './platform/checkpoint.ts'
export type { Clock } from './platform/clock.ts'
export { type ContractId, isContractId, parseContractId } from './platform/contract-id.ts'
export { isParty, type Party, parseParty, shortParty } from './platform/party.ts'
export {
  createLocalStorageStore,
  createMemoryStore,
  type Store,
  type WebStorage,
} from './platform/store.ts'
export { fromDate, toDate } from './platform/time.ts'
export { createScan, type Network, type Scan, type ScanOptions } from './scan.ts'
export {
  createValidator,
  type OwnNames,
  type Validator,
  type ValidatorOptions,
} from './validator.ts'
export type { OwnEntry } from './wallet/own-names.ts'
export type * from './wallet/registration-steps.ts'
export type { Renewal, RenewOptions } from './wallet/renewal.ts'
export type {
  AtOffset,
  Balance,
  CallOptions,
  Coins,
  Contract,
  Subscription,
  Transaction,
  TransferResult,
  UserStatus,
  Wallet,
} from './wallet/wallet.ts'
