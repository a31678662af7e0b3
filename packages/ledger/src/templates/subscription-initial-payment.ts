import { contractId, type LfValue, record, time } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { isWithOperator, round, subscriptionData, subscriptionPayData } from './shared.ts'

/** The first payment, locked until a quorum resolves it or the lock ends (D-23). */
export const subscriptionInitialPayment = defineTemplate({
  packageName: 'quorumscan-wallet',
  module: 'Wallet.Subscriptions',
  entity: 'SubscriptionInitialPayment',
  type: record('SubscriptionInitialPayment', {
    subscriptionData,
    payData: subscriptionPayData,
    lockedCoin: contractId,
    lockExpiresAt: time,
    round,
    reference: contractId,
  }),
  dso: (payment) => payment.subscriptionData.dso,
  signatories: ({ subscriptionData: data }) => [data.sender, data.receiver, data.provider],
  ensure: ({ subscriptionData }) => isWithOperator(subscriptionData),
  keys: ({ reference }) => [`reference:${reference}`],
  due: ({ lockExpiresAt }, contract) => [
    { job: 'resolve-initial-payment', at: contract.createdAt },
    { job: 'expire-payment', at: lockExpiresAt },
  ],
})
export type SubscriptionInitialPaymentPayload = LfValue<typeof subscriptionInitialPayment.type>
