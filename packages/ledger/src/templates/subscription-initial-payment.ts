import { contractId, type LfValue, record, time } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { ofSubscription, round, subscriptionData, subscriptionPayData } from './shared.ts'

/** The first payment, locked until a quorum resolves it or the lock ends (D-23). */
export const subscriptionInitialPayment = defineTemplate({
  ...ofSubscription,
  entity: 'SubscriptionInitialPayment',
  type: record('SubscriptionInitialPayment', {
    subscriptionData,
    payData: subscriptionPayData,
    lockedCoin: contractId,
    lockExpiresAt: time,
    round,
    reference: contractId,
  }),
  keys: ({ reference }) => [`reference:${reference}`],
  due: ({ lockExpiresAt }, contract) => [
    { job: 'resolve-initial-payment', at: contract.createdAt },
    { job: 'expire-payment', at: lockExpiresAt },
  ],
})
export type SubscriptionInitialPaymentPayload = LfValue<typeof subscriptionInitialPayment.type>
