import { contractId, record } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { ofSubscription, subscriptionData } from './shared.ts'

/** What stays the same through all renewals; `reference` is the SubscriptionRequest. */
export const subscription = defineTemplate({
  ...ofSubscription,
  entity: 'Subscription',
  type: record('Subscription', { subscriptionData, reference: contractId }),
  keys: ({ reference }) => [`reference:${reference}`],
})
