export type { Fork, Insufficient, Lagging } from '@quorumscan/reader'
export type {
  CertifiedNodeStatus,
  CertifiedReaderStatus,
  CertifiedReceipt,
} from '@quorumscan/reader/certified'
export type { CryptoPort, Genesis, Threshold, TrustList, TrustRule } from '@quorumscan/verifier'
export type { Activities, ActivitiesOptions, Activity } from './activities/activities.ts'
export type { ClientErrorCode } from './client-error-codes.ts'
export { type ErrorCode, type PaymentState, QuorumscanError } from './errors.ts'
export type { ServerErrorCode } from './generated/error-codes.ts'
export type { Checkpoint } from './http/follow.ts'
export type { TokenSource } from './http/http.ts'
export type { WebSocketConstructor, WebSocketLike } from './http/stream.ts'
export type { Traceparent } from './http/traced-fetch.ts'
export {
  type ErrorDetails,
  isErrorCode,
  isQuorumscanError,
  type KnownError,
} from './known-errors.ts'
export type { CommandOutcome, Commands, Submission } from './ledger/commands.ts'
export type { Update, Updates, UpdatesOptions } from './ledger/updates.ts'
export type * from './names/lookup-outcome.ts'
export type * from './names/lookup-types.ts'
export { isName, normalizeName } from './names/name-rules.ts'
export type { Names } from './names/names-type.ts'
export { type ParsedName, parseName } from './names/parse-name.ts'
export {
  type NameQuery,
  type NameQueryOptions,
  nameQuery,
  reverseQuery,
  searchQuery,
} from './names/queries.ts'
export type { Shown } from './names/shown.ts'
export type { Reading } from './names/watch-state.ts'
export type { Writer } from './names/writer.ts'
export type { Clock } from './platform/clock.ts'
export { parseParty } from './platform/parse-party.ts'
export { isParty, type Party } from './platform/party.ts'
export type { Random } from './platform/random.ts'
export {
  createLocalStorageStore,
  createMemoryStore,
  type Store,
  type WebStorage,
} from './platform/store.ts'
export * from './platform/values.ts'
export { createScan, type Network, type Scan, type ScanOptions, type ScanStatus } from './scan.ts'
export { createValidator, type Validator } from './validator.ts'
export type { OwnNames, ValidatorOptions } from './validator-options.ts'
export type { OwnEntry } from './wallet/own-names.ts'
export type {
  PaymentOptions,
  PaymentProgress,
  PaymentResult,
  Settle,
  SettleOptions,
} from './wallet/payment-result.ts'
export type { PaymentKind } from './wallet/payment-store.ts'
export type { Payments, TransferInput, UnfinishedPayment } from './wallet/payments.ts'
export {
  balanceQuery,
  offersQuery,
  transactionsQuery,
  type WalletQuery,
  type WalletQueryOptions,
} from './wallet/queries.ts'
export type { RegisterInput, RegisterOptions, Registration } from './wallet/registration.ts'
export type { RegisterProgress } from './wallet/registration-steps.ts'
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
