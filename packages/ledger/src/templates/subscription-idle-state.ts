import { contractId, type LfValue, record, time } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { isWithOperator, subscriptionData, subscriptionPayData } from './shared.ts'

/** Between payments: waits for the renewal window, or for its end. */
export const subscriptionIdleState = defineTemplate({
  packageName: 'quorumscan-wallet',
  module: 'Wallet.Subscriptions',
  entity: 'SubscriptionIdleState',
  type: record('SubscriptionIdleState', {
    subscription: contractId,
    subscriptionData,
    payData: subscriptionPayData,
    nextPaymentDueAt: time,
    reference: contractId,
  }),
  dso: (idle) => idle.subscriptionData.dso,
  signatories: ({ subscriptionData: data }) => [data.sender, data.receiver, data.provider],
  ensure: ({ subscriptionData }) => isWithOperator(subscriptionData),
  keys: ({ subscription }) => [`subscription:${subscription}`],
  due: ({ nextPaymentDueAt, payData }) => [
    { job: 'renew-subscription', at: Math.max(0, nextPaymentDueAt - payData.paymentDuration) },
    // Expiry requires that the due date lies strictly in the past.
    { job: 'expire-subscription', at: nextPaymentDueAt + 1 },
  ],
})
export type SubscriptionIdleStatePayload = LfValue<typeof subscriptionIdleState.type>
