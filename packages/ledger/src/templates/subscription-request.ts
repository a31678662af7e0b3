import { record, time } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { ofSubscription, subscriptionData, subscriptionPayData } from './shared.ts'

/** A payment request to a user. It may be withdrawn from `expiresAt` on (D-17). */
export const subscriptionRequest = defineTemplate({
  ...ofSubscription,
  entity: 'SubscriptionRequest',
  type: record('SubscriptionRequest', {
    subscriptionData,
    payData: subscriptionPayData,
    expiresAt: time,
  }),
  ensure: ({ subscriptionData, payData }) =>
    ofSubscription.ensure({ subscriptionData }) &&
    payData.paymentAmount.amount > 0n &&
    payData.paymentInterval > 0 &&
    payData.paymentDuration > 0,
  due: ({ expiresAt }) => [{ job: 'expire-request', at: expiresAt }],
})
