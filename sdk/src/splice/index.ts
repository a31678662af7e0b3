export { type ErrorCode, isQuorumscanError, QuorumscanError } from '../errors.ts'
export type { NameEntry } from '../names/lookups.ts'
export type { Clock } from '../platform/clock.ts'
export type { ContractId } from '../platform/contract-id.ts'
export type { SpliceThreshold, VoteFailure as SpliceFailure } from './decider.ts'
export type { SpliceScanAddress } from './directory.ts'
export type { JsonObject, JsonValue } from './exact-json.ts'
export type { SpliceNames } from './names.ts'
export type {
  HoldingsRequest,
  SpliceActivity,
  SpliceContract,
  SpliceDso,
  SpliceHoldings,
  SpliceRounds,
  SpliceScans,
} from './network-questions.ts'
export type {
  Agreed,
  AgreedAbsent,
  SpliceAnswers,
  SpliceInsufficient,
  SpliceOutcome,
  SpliceParticipation,
  SpliceUndecided,
} from './outcome.ts'
export type { SpliceReadOptions } from './reader.ts'
export {
  createSpliceScan,
  type SpliceScan,
  type SpliceScanOptions,
  type SpliceStatus,
} from './splice-scan.ts'
