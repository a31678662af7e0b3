import { contractId, int, type LfValue, optional, party, record, time, variant } from '../lf.ts'
import { defineTemplate } from '../template.ts'
import { ansRulesConfig } from './shared.ts'

/** An action of a quorum of super-validators (D-23, D-67). A change of rules names the rules that it replaces. */
export const confirmedAction = variant('ConfirmedAction', {
  ResolveInitialPayment: record('ResolveInitialPayment', { payment: contractId }),
  SetAnsConfig: record('SetAnsConfig', { ansRules: contractId, config: ansRulesConfig }),
  SetProtocolVersion: record('SetProtocolVersion', {
    dsoRules: contractId,
    version: int,
    /** None: as soon as enough super-validators have voted. */
    notBefore: optional(time),
  }),
})
export type ConfirmedAction = LfValue<typeof confirmedAction>

/**
 * The key by which confirmations are counted: for an initial payment its contract id, otherwise the kind of action. A
 * super-validator has at most one confirmation of each.
 */
export function subjectOf(action: ConfirmedAction): string {
  return action.tag === 'ResolveInitialPayment' ? action.value.payment : action.tag
}

/** One super-validator's vote for an action; gone with its subject. */
export const confirmation = defineTemplate({
  packageName: 'quorumscan-dso',
  module: 'Dso',
  entity: 'Confirmation',
  type: record('Confirmation', { dso: party, confirmer: party, action: confirmedAction }),
  // Not signed by the confirmer, so that the end of a payment can archive its confirmations.
  signatories: ({ dso }) => [dso],
  observers: ({ confirmer }) => [confirmer],
  keys: ({ action }) => [`confirmations:${subjectOf(action)}`],
})
