export {
  AMOUNT_SCALE,
  type Amount,
  ceilDivide,
  formatAmount,
  parseAmount,
} from './amount.ts'
export type { Command, Deduplication, DisclosedContract, Submission } from './command.ts'
export type { Contract, ContractId, DamlValue, TemplateId } from './contract.ts'
export { formatDuration, parseDuration } from './durations.ts'
export { isOffset, type Offset } from './offset.ts'
export {
  formatPageToken,
  type PagePosition,
  type PageSubject,
  parsePageToken,
} from './page-token.ts'
export { isPartyId, type PartyId, participantOfKey, partyIdOf, partyParticipant } from './party.ts'
export { type Micros, parseTime } from './time.ts'
export type {
  Completion,
  CompletionRecord,
  CreatedEvent,
  EntryResult,
  ExercisedEvent,
  LedgerEvent,
  PartyAllocated,
  PriorAcceptance,
  Update,
} from './update.ts'
export { DEFAULT_AUDIENCE, isUserId, type Right, type User, type UserId } from './user.ts'
