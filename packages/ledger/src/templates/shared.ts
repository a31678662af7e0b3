/** Record types of several templates. */
import {
  decimal,
  enumeration,
  int,
  type LfValue,
  list,
  optional,
  party,
  record,
  relTime,
  text,
  time,
} from '../lf.ts'

export const round = record('Round', { number: int })

/** Upstream's shape of a holding; nothing decays here, the rate is zero (D-18). */
export const expiringAmount = record('ExpiringAmount', {
  initialAmount: decimal,
  createdAt: round,
  ratePerRound: record('RatePerRound', { rate: decimal }),
})

/** Until it ends, only owner and holders together can release the coin. */
export const timeLock = record('TimeLock', {
  holders: list(party),
  expiresAt: time,
  optContext: optional(text),
})

export const ansRulesConfig = record('AnsRulesConfig', {
  renewalDuration: relTime,
  entryLifetime: relTime,
  /** USD. */
  entryFee: decimal,
  descriptionPrefix: text,
})
export type AnsRulesConfig = LfValue<typeof ansRulesConfig>

export const subscriptionData = record('SubscriptionData', {
  sender: party,
  receiver: party,
  provider: party,
  dso: party,
  description: text,
})
export type SubscriptionData = LfValue<typeof subscriptionData>

/**
 * The operator is a party of every subscription, so that it signs every step. Otherwise a party could create payments
 * and endings by itself, which the super-validators would try to resolve without end (D-29).
 */
function isWithOperator({ receiver, provider, dso }: SubscriptionData): boolean {
  return receiver === dso && provider === dso
}

type OfSubscription = { readonly subscriptionData: SubscriptionData }

/** The common part of the templates of a subscription: all its parties are signatories. */
export const ofSubscription = {
  packageName: 'quorumscan-wallet',
  module: 'Wallet.Subscriptions',
  dso: ({ subscriptionData: { dso } }: OfSubscription) => dso,
  signatories: ({ subscriptionData: { sender, receiver, provider } }: OfSubscription) => [
    sender,
    receiver,
    provider,
  ],
  ensure: ({ subscriptionData: data }: OfSubscription) => isWithOperator(data),
} as const

export const paymentAmount = record('PaymentAmount', {
  amount: decimal,
  unit: enumeration('Unit', ['USDUnit', 'CoinUnit']),
})

export const subscriptionPayData = record('SubscriptionPayData', {
  paymentAmount,
  paymentInterval: relTime,
  /** How long before the due date a renewal may be paid. */
  paymentDuration: relTime,
})
export type SubscriptionPayData = LfValue<typeof subscriptionPayData>

export const svInfo = record('SvInfo', { name: text, party })
export type SvInfo = LfValue<typeof svInfo>
