export type { AutoRenewals } from './auto-renewals.ts'
export { type KeptPart, readKept, writeKept } from './backup.ts'
export type { Floor, KeptText } from './kept.ts'
export { type Outbox, PENDING_MAX, type PendingSubmission } from './outbox.ts'
export type { Parties } from './parties.ts'
export { openValidatorStore, type ValidatorStore } from './store.ts'
export {
  mergeRights,
  RIGHTS_PER_USER_MAX,
  type UserRecord,
  type Users,
  withoutRights,
} from './users.ts'
