import { contractId, type LfValue, party, record, text } from '../lf.ts'
import { defineTemplate } from '../template.ts'

/** Links a name to its subscription: `reference` is the SubscriptionRequest that began it. */
export const ansEntryContext = defineTemplate({
  packageName: 'quorumscan-name-service',
  module: 'Ans',
  entity: 'AnsEntryContext',
  type: record('AnsEntryContext', {
    dso: party,
    user: party,
    name: text,
    url: text,
    description: text,
    reference: contractId,
  }),
  signatories: ({ dso, user }) => [dso, user],
  keys: ({ reference }) => [`context:${reference}`],
})
export type AnsEntryContextPayload = LfValue<typeof ansEntryContext.type>
