/** The commands that apps submit: one function for each typed choice. */
import type { Amount, Command, ContractId, Micros, PartyId } from '@quorumscan/model'
import { requestEntry } from './choices/ans-rules.ts'
import { tap, transfer } from './choices/coin-rules.ts'
import { confirmAction } from './choices/confirm-action.ts'
import {
  advanceRounds,
  setScanUrl,
  svCollectRenewal,
  svExpireEntry,
  svExpirePayment,
  svExpireRequest,
  svExpireSubscription,
  svTerminateSubscription,
} from './choices/dso-rules.ts'
import { cancelSubscription, makePayment } from './choices/subscription-idle-state.ts'
import { expireInitialPayment } from './choices/subscription-initial-payment.ts'
import { expirePayment } from './choices/subscription-payment.ts'
import { acceptAndMakePayment, rejectRequest } from './choices/subscription-request.ts'
import {
  accept,
  createTransferInstruction,
  expire,
  reject,
  withdraw,
} from './choices/transfer-instruction.ts'
import { type Choice, templateRef } from './template.ts'
import type { ConfirmedAction } from './templates/confirmation.ts'
import type { AnsRulesConfig } from './templates/shared.ts'

type ExerciseCommand = Extract<Command, { kind: 'exercise' }>

/** An exercise of any choice, with its argument encoded. */
export function exerciseCommand<P, A, R>(
  choice: Choice<P, A, R>,
  contractId: ContractId,
  argument: A,
): ExerciseCommand {
  return {
    kind: 'exercise',
    template: templateRef(choice.template),
    contractId,
    choice: choice.name,
    argument: choice.argument.encode(argument),
  }
}

/** Must be alone in its submission, whose actAs is empty (D-41). */
export function allocatePartyCommand(input: { hint: string }): Command {
  return { kind: 'allocateParty', hint: input.hint }
}

/** The command of a choice from one record: the contract under `key`, and the members of the argument. */
function commandOf<P, A, R, Key extends string>(choice: Choice<P, A, R>, key: Key) {
  return (input: Readonly<Record<Key, ContractId>> & A): ExerciseCommand => {
    const { [key]: contractId, ...argument } = input
    // The other members are `A`. No argument has a member with the name of its contract key.
    return exerciseCommand(choice, contractId, argument as unknown as A)
  }
}

// Commands on coin

/** The amount is of coin, not of USD. */
export const tapCommand = commandOf(tap, 'coinRules')

/** Receivers other than the sender must be among the submitters. Without outputs the inputs are merged. */
export function transferCommand(input: {
  coinRules: ContractId
  sender: PartyId
  inputs: readonly ContractId[]
  outputs: readonly { readonly receiver: PartyId; readonly amount: Amount }[]
}): Command {
  const { coinRules, sender, inputs } = input
  const outputs = input.outputs.map((output) => ({ ...output, lock: null }))
  return exerciseCommand(transfer, coinRules, { sender, inputs, outputs })
}

export const createTransferInstructionCommand = commandOf(createTransferInstruction, 'coinRules')
export const acceptTransferCommand = commandOf(accept, 'instruction')
export const rejectTransferCommand = commandOf(reject, 'instruction')
export const withdrawTransferCommand = commandOf(withdraw, 'instruction')
/** Sender or receiver may submit it once `executeBefore` is reached. */
export const expireTransferCommand = commandOf(expire, 'instruction')

// Commands of the owner of names and subscriptions

export const requestEntryCommand = commandOf(requestEntry, 'ansRules')
export const acceptRequestCommand = commandOf(acceptAndMakePayment, 'request')
export const rejectRequestCommand = commandOf(rejectRequest, 'request')
export const makePaymentCommand = commandOf(makePayment, 'idle')
export const cancelSubscriptionCommand = commandOf(cancelSubscription, 'idle')

/** A signatory of the payment may submit it once the lock has ended. */
export function refundPaymentCommand(input: {
  payment: ContractId
  paymentKind: 'initial' | 'renewal'
  actor: PartyId
}): Command {
  const { payment, paymentKind, actor } = input
  return paymentKind === 'initial'
    ? exerciseCommand(expireInitialPayment, payment, { actor })
    : exerciseCommand(expirePayment, payment, { actor })
}

// Commands of super-validators

type Confirming = { readonly dsoRules: ContractId; readonly confirmer: PartyId }

function confirmCommand({ dsoRules, confirmer }: Confirming, action: ConfirmedAction): Command {
  return exerciseCommand(confirmAction, dsoRules, { confirmer, action })
}

export function confirmResolveCommand({
  payment,
  ...by
}: Confirming & { readonly payment: ContractId }): Command {
  return confirmCommand(by, { tag: 'ResolveInitialPayment', value: { payment } })
}

/** Confirms the replacement of these rules by ones with another config. */
export function confirmSetConfigCommand({
  ansRules,
  config,
  ...by
}: Confirming & { readonly ansRules: ContractId; readonly config: AnsRulesConfig }): Command {
  return confirmCommand(by, { tag: 'SetAnsConfig', value: { ansRules, config } })
}

/** Votes for a version of the protocol from a record time on, while these are the rules. */
export function confirmSetProtocolVersionCommand({
  version,
  notBefore,
  ...by
}: Confirming & { readonly version: number; readonly notBefore: Micros | null }): Command {
  const value = { dsoRules: by.dsoRules, version, notBefore }
  return confirmCommand(by, { tag: 'SetProtocolVersion', value })
}

/** `signature` (128 hex digits) is the scan key's over the address statement (D-34). */
export const setScanUrlCommand = commandOf(setScanUrl, 'dsoRules')
export const collectRenewalCommand = commandOf(svCollectRenewal, 'dsoRules')
export const expireEntryCommand = commandOf(svExpireEntry, 'dsoRules')
export const expireSubscriptionCommand = commandOf(svExpireSubscription, 'dsoRules')
export const expireRequestCommand = commandOf(svExpireRequest, 'dsoRules')
/** Expires initial payments and renewals. */
export const expirePaymentCommand = commandOf(svExpirePayment, 'dsoRules')
export const terminateSubscriptionCommand = commandOf(svTerminateSubscription, 'dsoRules')
export const advanceRoundsCommand = commandOf(advanceRounds, 'dsoRules')
