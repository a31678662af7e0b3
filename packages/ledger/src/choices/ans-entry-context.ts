/** Delegations of the owner to the operator: they carry both authorities into AnsRules. */
import { contractId, party, record, unit } from '../lf.ts'
import { demand } from '../refusal.ts'
import { defineChoice } from '../template.ts'
import { ansEntryContext } from '../templates/ans-entry-context.ts'
import { ansRules } from '../templates/ans-rules.ts'
import { terminatedSubscription } from '../templates/terminated-subscription.ts'
import {
  collectEntryRenewalPayment,
  collectInitialEntryPayment,
  rejectEntryInitialPayment,
} from './ans-rules.ts'
import { demandActor, singleton } from './common.ts'

export const contextCollectInitial = defineChoice(
  ansEntryContext,
  'AnsEntryContext_CollectInitialEntryPayment',
  {
    consuming: false,
    argument: record('AnsEntryContext_CollectInitialEntryPayment', { payment: contractId }),
    result: collectInitialEntryPayment.result,
    controllers: ({ dso }) => [dso],
    run: (tx, self, { payment }) =>
      tx.exercise(collectInitialEntryPayment, singleton(tx, ansRules).contractId, {
        user: self.payload.user,
        context: self.contractId,
        payment,
      }),
  },
)

export const contextRejectInitial = defineChoice(
  ansEntryContext,
  'AnsEntryContext_RejectEntryInitialPayment',
  {
    consuming: false,
    argument: record('AnsEntryContext_RejectEntryInitialPayment', { payment: contractId }),
    result: rejectEntryInitialPayment.result,
    controllers: ({ dso }) => [dso],
    run: (tx, self, { payment }) =>
      tx.exercise(rejectEntryInitialPayment, singleton(tx, ansRules).contractId, {
        user: self.payload.user,
        context: self.contractId,
        payment,
      }),
  },
)

export const contextCollectRenewal = defineChoice(
  ansEntryContext,
  'AnsEntryContext_CollectEntryRenewalPayment',
  {
    consuming: false,
    argument: record('AnsEntryContext_CollectEntryRenewalPayment', {
      payment: contractId,
      entry: contractId,
    }),
    result: collectEntryRenewalPayment.result,
    controllers: ({ dso }) => [dso],
    run: (tx, self, { payment, entry }) =>
      tx.exercise(collectEntryRenewalPayment, singleton(tx, ansRules).contractId, {
        user: self.payload.user,
        context: self.contractId,
        payment,
        entry,
      }),
  },
)

/** Cleans up after a subscription that ended: the context goes together with its marker. */
export const terminateContext = defineChoice(ansEntryContext, 'AnsEntryContext_Terminate', {
  consuming: true,
  worksWhenFull: true,
  argument: record('AnsEntryContext_Terminate', {
    actor: party,
    terminatedSubscription: contractId,
  }),
  result: unit,
  controllers: (_context, { actor }) => [actor],
  run(tx, { payload: context }, argument) {
    demandActor(argument.actor, [context.dso, context.user])
    const { payload } = tx.fetch(terminatedSubscription, argument.terminatedSubscription)
    demand(
      payload.reference === context.reference,
      'CHOICE_REFUSED',
      'the subscription that ended belongs to another entry',
    )
    tx.archive(terminatedSubscription, argument.terminatedSubscription)
    return {}
  },
})
