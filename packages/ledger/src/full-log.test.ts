import { createKeyPair } from '@quorumscan/base'
import { type Command, partyIdOf } from '@quorumscan/model'
import { expect, it } from 'vitest'
import { choicesOf, REGISTRY } from './registry.ts'
import { NEWEST_RULES } from './rules.ts'
import { addsToState } from './submission-facts.ts'
import { templateRef } from './template.ts'

const participant = createKeyPair().publicKey
const party = partyIdOf('alice', participant)
const contractId = `00${'ab'.repeat(32)}`

const addsWith = (...commands: Command[]) =>
  addsToState(
    {
      participant,
      userId: 'alice',
      actAs: [party],
      readAs: [],
      commandId: 'one',
      notAfter: 1,
      commands,
      disclosed: [],
    } as unknown as Parameters<typeof addsToState>[0],
    NEWEST_RULES,
  )

const exercise = (template: string, choice: string): Command => ({
  kind: 'exercise',
  template,
  contractId,
  choice,
  argument: {},
})

/** What a client or a super-validator does while the log is full; all other choices wait. */
const WORKING = [
  'AnsEntryContext_Terminate',
  'AnsEntry_Expire',
  'DsoRules_AdvanceOpenMiningRounds',
  'DsoRules_CollectEntryRenewalPayment',
  'DsoRules_ConfirmAction',
  'DsoRules_ExpireAnsEntry',
  'DsoRules_ExpirePayment',
  'DsoRules_ExpireSubscription',
  'DsoRules_ExpireSubscriptionRequest',
  'DsoRules_SetScanUrl',
  'DsoRules_TerminateSubscription',
  'LockedCoin_OwnerExpireLock',
  'LockedCoin_Unlock',
  'SubscriptionIdleState_CancelSubscription',
  'SubscriptionIdleState_ExpireSubscription',
  'SubscriptionIdleState_MakePayment',
  'SubscriptionInitialPayment_Expire',
  'SubscriptionInitialPayment_Reject',
  'SubscriptionPayment_Collect',
  'SubscriptionPayment_Expire',
  'SubscriptionPayment_Reject',
  'SubscriptionRequest_Reject',
  'SubscriptionRequest_Withdraw',
  'TransferInstruction_Accept',
  'TransferInstruction_Expire',
  'TransferInstruction_Reject',
  'TransferInstruction_Withdraw',
]

it('archivals, renewals, confirmations and what ends something go on, of all choices these', () => {
  const working = REGISTRY.templates.flatMap((template) =>
    choicesOf(template)
      .filter(({ name }) => !addsWith(exercise(templateRef(template), name)))
      .map(({ name }) => name),
  )
  expect(working.sort()).toEqual(WORKING)
  for (const template of REGISTRY.templates)
    expect(addsWith(exercise(templateRef(template), 'Archive'))).toBe(false)
})

it('one command that adds makes the submission add; so does what is not known', () => {
  const [template] = REGISTRY.templates
  const ref = template === undefined ? '' : templateRef(template)
  const archive = exercise(ref, 'Archive')
  expect(addsWith(archive, archive)).toBe(false)
  expect(addsWith(archive, { kind: 'allocateParty', hint: 'bob' })).toBe(true)
  expect(addsWith({ kind: 'create', template: ref, argument: {} })).toBe(true)
  expect(
    addsWith({
      kind: 'createAndExercise',
      template: ref,
      createArgument: {},
      choice: 'Archive',
      argument: {},
    }),
  ).toBe(true)
  expect(addsWith(exercise(ref, 'Nonsense'))).toBe(true)
  expect(addsWith(exercise('#nonsense:A:B', 'Nonsense'))).toBe(true)
})
