import { contractId, record, time } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { ofSubscription, subscriptionData, subscriptionPayData } from './shared.ts'

/** Between payments: waits for the renewal window, or for its end. */
export const subscriptionIdleState = defineTemplate({
  ...ofSubscription,
  entity: 'SubscriptionIdleState',
  type: record('SubscriptionIdleState', {
    subscription: contractId,
    subscriptionData,
    payData: subscriptionPayData,
    nextPaymentDueAt: time,
    reference: contractId,
  }),
  keys: ({ subscription }) => [`subscription:${subscription}`],
  due: ({ nextPaymentDueAt, payData }) => [
    { job: 'renew-subscription', at: Math.max(0, nextPaymentDueAt - payData.paymentDuration) },
    // Expiry requires that the due date lies strictly in the past.
    { job: 'expire-subscription', at: nextPaymentDueAt + 1 },
  ],
})
