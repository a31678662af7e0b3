export { type Principal, walletHandlers } from './handlers.ts'
export { createKeptUsers, type KeptUsers } from './users/kept-users.ts'
export { OPERATOR_RETRY_MS, registerOperator } from './users/operator-party.ts'
export {
  allocateParty,
  hasOperatorParty,
  newUser,
  type RegistrationDeps,
} from './users/registration.ts'
export { createPartyQueue, type PartyQueue } from './wallet/party-queue.ts'
export { forgetEndedRenewals, payDueRenewal } from './wallet/renewals.ts'
