import { type LfValue, record, time } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { isWithOperator, subscriptionData, subscriptionPayData } from './shared.ts'

/** What a wallet is asked to pay. `expiresAt`: then it may be withdrawn (D-17). */
export const subscriptionRequest = defineTemplate({
  packageName: 'quorumscan-wallet',
  module: 'Wallet.Subscriptions',
  entity: 'SubscriptionRequest',
  type: record('SubscriptionRequest', {
    subscriptionData,
    payData: subscriptionPayData,
    expiresAt: time,
  }),
  dso: (request) => request.subscriptionData.dso,
  signatories: ({ subscriptionData: data }) => [data.sender, data.receiver, data.provider],
  ensure: ({ subscriptionData, payData }) =>
    isWithOperator(subscriptionData) &&
    payData.paymentAmount.amount > 0n &&
    payData.paymentInterval > 0 &&
    payData.paymentDuration > 0,
  due: ({ expiresAt }) => [{ job: 'expire-request', at: expiresAt }],
})
export type SubscriptionRequestPayload = LfValue<typeof subscriptionRequest.type>
