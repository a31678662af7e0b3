import { contractId, record } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { ofSubscription, subscriptionData } from './shared.ts'

/** The constant data of a subscription; `reference` is the SubscriptionRequest. */
export const subscription = defineTemplate({
  ...ofSubscription,
  entity: 'Subscription',
  type: record('Subscription', { subscriptionData, reference: contractId }),
  keys: ({ reference }) => [`reference:${reference}`],
})
