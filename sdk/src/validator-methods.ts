/** The methods of a client of a validator, and whether each one yields. A client has them before their code is loaded. */
import type { Activities } from './activities/activities.ts'
import type { Commands } from './ledger/commands.ts'
import type { Updates } from './ledger/updates.ts'
import type { Names } from './names/names-type.ts'
import type { OwnNames } from './validator-options.ts'
import type { Payments } from './wallet/payments.ts'
import type { Wallet } from './wallet/wallet.ts'

type Methods<Part> = Readonly<Record<keyof Part, boolean>>

export const OWN_NAMES: Methods<Omit<OwnNames, keyof Names>> = {
  list: false,
  register: false,
  renew: false,
  cancel: false,
  setAutoRenew: false,
}
export const STREAMS: Methods<{ updates: Updates }> = { updates: true }
export const ACTIVITIES: Methods<{ activities: Activities }> = { activities: true }
export const COMMANDS: Methods<Commands> = { submit: false }
export const PAYMENTS: Methods<Payments> = {
  transfer: false,
  acceptTransfer: false,
  rejectTransfer: false,
  withdrawTransfer: false,
  tap: false,
  register: false,
  renew: false,
  unfinished: false,
}
export const BALANCE: Methods<Pick<Wallet, 'balance'>> = { balance: false }
export const WALLET: Methods<Omit<Wallet, 'balance'>> = {
  party: false,
  status: false,
  coins: false,
  tap: false,
  transactions: true,
  subscriptionRequests: false,
  subscriptionRequest: false,
  acceptSubscriptionRequest: false,
  rejectSubscriptionRequest: false,
  initialPayments: false,
  subscriptions: false,
  cancelSubscription: false,
  setAutoRenew: false,
  paySubscription: false,
  transfers: false,
}
