import { contractId, type LfValue, record } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { isWithOperator, subscriptionData } from './shared.ts'

/** What stays the same through all renewals; `reference` is the SubscriptionRequest. */
export const subscription = defineTemplate({
  packageName: 'quorumscan-wallet',
  module: 'Wallet.Subscriptions',
  entity: 'Subscription',
  type: record('Subscription', { subscriptionData, reference: contractId }),
  dso: (payload) => payload.subscriptionData.dso,
  signatories: ({ subscriptionData: data }) => [data.sender, data.receiver, data.provider],
  ensure: ({ subscriptionData }) => isWithOperator(subscriptionData),
  keys: ({ reference }) => [`reference:${reference}`],
})
export type SubscriptionPayload = LfValue<typeof subscription.type>
