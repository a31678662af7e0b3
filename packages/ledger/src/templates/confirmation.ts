import { contractId, type LfValue, party, record, variant } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { ansRulesConfig } from './shared.ts'

/** What a quorum of super-validators can cause (D-23). A new config names the rules that it replaces. */
export const confirmedAction = variant('ConfirmedAction', {
  ResolveInitialPayment: record('ResolveInitialPayment', { payment: contractId }),
  SetAnsConfig: record('SetAnsConfig', { ansRules: contractId, config: ansRulesConfig }),
})
export type ConfirmedAction = LfValue<typeof confirmedAction>

/** Subject of every confirmation of a new config: each super-validator holds at most one. */
const CONFIG_SUBJECT = 'SetAnsConfig'

/** What confirmations are counted by: of an initial payment its contract id. */
export function subjectOf(action: ConfirmedAction): string {
  return action.tag === 'ResolveInitialPayment' ? action.value.payment : CONFIG_SUBJECT
}

/** One super-validator's vote for an action; gone with its subject. */
export const confirmation = defineTemplate({
  packageName: 'quorumscan-dso',
  module: 'Dso',
  entity: 'Confirmation',
  type: record('Confirmation', { dso: party, confirmer: party, action: confirmedAction }),
  // Not signed by the confirmer: whoever ends a payment ends its confirmations too.
  signatories: ({ dso }) => [dso],
  observers: ({ confirmer }) => [confirmer],
  keys: ({ action }) => [`confirmations:${subjectOf(action)}`],
})
