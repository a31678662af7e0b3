export type { AutoRenewal, AutoRenewals } from './auto-renewals.ts'
export { readStore, type StorePart, writeStore } from './backup.ts'
export { type Outbox, PENDING_MAX, type PendingSubmission } from './outbox.ts'
export type { Parties, PartyDetails } from './parties.ts'
export type { PaymentRecord, Payments, PaymentsReached } from './payments.ts'
export type { StoredText } from './reader-state.ts'
export { openRenewals } from './renewals.ts'
export { openValidatorStore, type ValidatorStore } from './store.ts'
export {
  mergeRights,
  RIGHTS_PER_USER_MAX,
  type UserRecord,
  type Users,
  withoutRights,
} from './users.ts'
