export type { TrustList, TrustRule } from '@quorumscan/verifier'
export { type ErrorCode, QuorumscanError } from '../errors.ts'
export { isQuorumscanError } from '../known-errors.ts'
export type { Listed, Metadata, NameEntry } from '../names/lookup-types.ts'
export type { Shown } from '../names/shown.ts'
export type { Clock } from '../platform/clock.ts'
export type { ContractId } from '../platform/values.ts'
export type { JsonObject, JsonValue } from './exact-json.ts'
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
  SpliceAnswers,
  SpliceInsufficient,
  SpliceParticipation,
  SpliceUndecided,
} from './splice-answers.ts'
export type { SpliceThreshold, VoteFailure as SpliceVoteFailure } from './splice-decider.ts'
export type { SpliceNames } from './splice-names.ts'
export type { SpliceAnswer, SpliceFailure, SpliceOutcome } from './splice-outcome.ts'
export type { SpliceReadOptions, SpliceScanAddress } from './splice-reader.ts'
export {
  createSpliceScan,
  type SpliceScan,
  type SpliceScanOptions,
  type SpliceStatus,
} from './splice-scan.ts'
