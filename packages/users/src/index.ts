export type { Addresses } from './addresses.ts'
export type { AutoRenewals } from './auto-renewals.ts'
export type { Floor } from './floor.ts'
export { ValidatorStore, type ValidatorStoreConfig } from './store.ts'
export {
  mergeRights,
  RIGHTS_PER_USER_MAX,
  type UserRecord,
  type Users,
  withoutRights,
} from './users.ts'
