import { contractId, type LfValue, record, time } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { ofSubscription, round, subscriptionData, subscriptionPayData } from './shared.ts'

/** A renewal that is paid and not yet collected; `thisPaymentDueAt` is the due date that it meets. */
export const subscriptionPayment = defineTemplate({
  ...ofSubscription,
  entity: 'SubscriptionPayment',
  type: record('SubscriptionPayment', {
    subscription: contractId,
    subscriptionData,
    payData: subscriptionPayData,
    thisPaymentDueAt: time,
    lockedCoin: contractId,
    lockExpiresAt: time,
    round,
    reference: contractId,
  }),
  keys: ({ subscription }) => [`subscription:${subscription}`],
  due: ({ lockExpiresAt }, contract) => [
    { job: 'collect-renewal-payment', at: contract.createdAt },
    { job: 'expire-payment', at: lockExpiresAt },
  ],
})
export type SubscriptionPaymentPayload = LfValue<typeof subscriptionPayment.type>
