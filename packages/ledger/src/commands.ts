/** Commands as apps submit them: one function per thing that can be done, over typed choices. */
import type { Amount, Command, ContractId, Micros, PartyId } from '@quorumscan/model'
import { expireEntry } from './choices/ans-entry.ts'
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
import { ownerExpireLock } from './choices/locked-coin.ts'
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

// Coin

export function tapCommand(input: {
  coinRules: ContractId
  receiver: PartyId
  /** Coin, not USD. */
  amount: Amount
}): Command {
  const { coinRules, ...argument } = input
  return exerciseCommand(tap, coinRules, argument)
}

/** Receivers other than the sender must be among the submitters. Without outputs the inputs are merged. */
export function transferCommand(input: {
  coinRules: ContractId
  sender: PartyId
  inputs: readonly ContractId[]
  outputs: readonly { readonly receiver: PartyId; readonly amount: Amount }[]
}): Command {
  const outputs = input.outputs.map((output) => ({ ...output, lock: null }))
  return exerciseCommand(transfer, input.coinRules, {
    sender: input.sender,
    inputs: input.inputs,
    outputs,
  })
}

export function createTransferInstructionCommand(input: {
  coinRules: ContractId
  sender: PartyId
  receiver: PartyId
  amount: Amount
  inputs: readonly ContractId[]
  executeBefore: Micros
  description: string
  trackingId: string
}): Command {
  const { coinRules, ...argument } = input
  return exerciseCommand(createTransferInstruction, coinRules, argument)
}

export function acceptTransferCommand(input: { instruction: ContractId }): Command {
  return exerciseCommand(accept, input.instruction, {})
}

export function rejectTransferCommand(input: { instruction: ContractId }): Command {
  return exerciseCommand(reject, input.instruction, {})
}

export function withdrawTransferCommand(input: { instruction: ContractId }): Command {
  return exerciseCommand(withdraw, input.instruction, {})
}

/** By sender or receiver, once `executeBefore` is reached. */
export function expireTransferCommand(input: { instruction: ContractId; actor: PartyId }): Command {
  return exerciseCommand(expire, input.instruction, { actor: input.actor })
}

/** By the owner, for a lock of its own that has ended. */
export function expireLockCommand(input: { lockedCoin: ContractId }): Command {
  return exerciseCommand(ownerExpireLock, input.lockedCoin, {})
}

// Names and subscriptions, by their owner

export function requestEntryCommand(input: {
  ansRules: ContractId
  user: PartyId
  name: string
  url: string
  description: string
}): Command {
  const { ansRules, ...argument } = input
  return exerciseCommand(requestEntry, ansRules, argument)
}

export function acceptRequestCommand(input: {
  request: ContractId
  inputs: readonly ContractId[]
}): Command {
  return exerciseCommand(acceptAndMakePayment, input.request, { inputs: input.inputs })
}

export function rejectRequestCommand(input: { request: ContractId }): Command {
  return exerciseCommand(rejectRequest, input.request, {})
}

export function makePaymentCommand(input: {
  idle: ContractId
  inputs: readonly ContractId[]
}): Command {
  return exerciseCommand(makePayment, input.idle, { inputs: input.inputs })
}

export function cancelSubscriptionCommand(input: { idle: ContractId }): Command {
  return exerciseCommand(cancelSubscription, input.idle, {})
}

/** By a signatory of the payment, once its lock has ended. */
export function refundPaymentCommand(input: {
  payment: ContractId
  paymentKind: 'initial' | 'renewal'
  actor: PartyId
}): Command {
  const argument = { actor: input.actor }
  return input.paymentKind === 'initial'
    ? exerciseCommand(expireInitialPayment, input.payment, argument)
    : exerciseCommand(expirePayment, input.payment, argument)
}

/** By the owner of an entry that has expired. */
export function archiveEntryCommand(input: { entry: ContractId; user: PartyId }): Command {
  return exerciseCommand(expireEntry, input.entry, { actor: input.user })
}

// By super-validators

type BySv = { dsoRules: ContractId; sv: PartyId }

export function confirmResolveCommand(input: {
  dsoRules: ContractId
  confirmer: PartyId
  payment: ContractId
}): Command {
  return exerciseCommand(confirmAction, input.dsoRules, {
    confirmer: input.confirmer,
    action: { tag: 'ResolveInitialPayment', value: { payment: input.payment } },
  })
}

/** Confirms the replacement of these rules by ones with another config. */
export function confirmSetConfigCommand(input: {
  dsoRules: ContractId
  confirmer: PartyId
  ansRules: ContractId
  config: AnsRulesConfig
}): Command {
  return exerciseCommand(confirmAction, input.dsoRules, {
    confirmer: input.confirmer,
    action: { tag: 'SetAnsConfig', value: { ansRules: input.ansRules, config: input.config } },
  })
}

/** `signature` (128 hex digits) is the scan key's over the address statement (D-34). */
export function setScanUrlCommand(
  input: BySv & { url: string; sequence: number; signature: string },
): Command {
  const { dsoRules, ...argument } = input
  return exerciseCommand(setScanUrl, dsoRules, argument)
}

export function collectRenewalCommand(input: BySv & { payment: ContractId }): Command {
  const { dsoRules, ...argument } = input
  return exerciseCommand(svCollectRenewal, dsoRules, argument)
}

export function expireEntryCommand(input: BySv & { entry: ContractId }): Command {
  const { dsoRules, ...argument } = input
  return exerciseCommand(svExpireEntry, dsoRules, argument)
}

export function expireSubscriptionCommand(input: BySv & { idle: ContractId }): Command {
  const { dsoRules, ...argument } = input
  return exerciseCommand(svExpireSubscription, dsoRules, argument)
}

export function expireRequestCommand(input: BySv & { request: ContractId }): Command {
  const { dsoRules, ...argument } = input
  return exerciseCommand(svExpireRequest, dsoRules, argument)
}

/** For initial payments and for renewals. */
export function expirePaymentCommand(input: BySv & { payment: ContractId }): Command {
  const { dsoRules, ...argument } = input
  return exerciseCommand(svExpirePayment, dsoRules, argument)
}

export function terminateSubscriptionCommand(input: BySv & { terminated: ContractId }): Command {
  const { dsoRules, ...argument } = input
  return exerciseCommand(svTerminateSubscription, dsoRules, argument)
}

export function advanceRoundsCommand(input: BySv): Command {
  const { dsoRules, ...argument } = input
  return exerciseCommand(advanceRounds, dsoRules, argument)
}
