export { type Principal, walletHandlers } from './handlers.ts'
export { createRegistration, newUser, type Registration } from './users/registration.ts'
export { createPartyQueue, type PartyQueue } from './wallet/party-queue.ts'
export { deleteEndedRenewalsPeriodically, payDueRenewal } from './wallet/subscriptions.ts'
