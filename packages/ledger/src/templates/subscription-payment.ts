import { contractId, type LfValue, record, time } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { isWithOperator, round, subscriptionData, subscriptionPayData } from './shared.ts'

/** A renewal that is paid and not yet collected; `thisPaymentDueAt` is the due date that it meets. */
export const subscriptionPayment = defineTemplate({
  packageName: 'quorumscan-wallet',
  module: 'Wallet.Subscriptions',
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
  dso: (payment) => payment.subscriptionData.dso,
  signatories: ({ subscriptionData: data }) => [data.sender, data.receiver, data.provider],
  ensure: ({ subscriptionData }) => isWithOperator(subscriptionData),
  keys: ({ subscription }) => [`subscription:${subscription}`],
  due: ({ lockExpiresAt }, contract) => [
    { job: 'collect-renewal-payment', at: contract.createdAt },
    { job: 'expire-payment', at: lockExpiresAt },
  ],
})
export type SubscriptionPaymentPayload = LfValue<typeof subscriptionPayment.type>
