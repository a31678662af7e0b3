import { contractId, record } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { ofSubscription, subscriptionData } from './shared.ts'

/** Marks a subscription that ended, until its context is cleaned up. */
export const terminatedSubscription = defineTemplate({
  ...ofSubscription,
  entity: 'TerminatedSubscription',
  type: record('TerminatedSubscription', { subscriptionData, reference: contractId }),
  keys: ({ reference }) => [`reference:${reference}`],
  due: (_terminated, contract) => [{ job: 'terminate-subscription', at: contract.createdAt }],
})
