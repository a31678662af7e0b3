export { type Principal, walletHandlers } from './handlers.ts'
export { createRegistration, newUser, type Registration } from './users/registration.ts'
export { balanceOf } from './wallet/coins.ts'
export { followPayments } from './wallet/follow-payments.ts'
export { createPartyQueue, type PartyQueue } from './wallet/party-queue.ts'
export {
  createPayments,
  type Payment,
  type PaymentHistory,
  type PaymentIds,
  paymentHistory,
} from './wallet/payments.ts'
export { judgeRenewal, type PausedRenewal, pausedRenewals } from './wallet/renewal-users.ts'
export { spend } from './wallet/spending.ts'
export { maintainRenewals, payDueRenewal } from './wallet/subscriptions.ts'
export { prepareTransfer } from './wallet/transfers.ts'
