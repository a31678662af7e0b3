export { type Principal, walletHandlers } from './handlers.ts'
export {
  createRegistration,
  newUser,
  OPERATOR_RETRY_MS,
  type Registration,
} from './users/registration.ts'
export { createPartyQueue, type PartyQueue } from './wallet/party-queue.ts'
export { forgetEndedRenewals, payDueRenewal } from './wallet/subscriptions.ts'
