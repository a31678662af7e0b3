import { contractId, type LfValue, record } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { isWithOperator, subscriptionData } from './shared.ts'

/** Marks a subscription that ended, until its context is cleaned up. */
export const terminatedSubscription = defineTemplate({
  packageName: 'quorumscan-wallet',
  module: 'Wallet.Subscriptions',
  entity: 'TerminatedSubscription',
  type: record('TerminatedSubscription', { subscriptionData, reference: contractId }),
  dso: (terminated) => terminated.subscriptionData.dso,
  signatories: ({ subscriptionData: data }) => [data.sender, data.receiver, data.provider],
  ensure: ({ subscriptionData }) => isWithOperator(subscriptionData),
  keys: ({ reference }) => [`reference:${reference}`],
  due: (_terminated, contract) => [{ job: 'terminate-subscription', at: contract.createdAt }],
})
export type TerminatedSubscriptionPayload = LfValue<typeof terminatedSubscription.type>
