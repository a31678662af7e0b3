/**
 * How contracts are indexed, and when work on them is due. Index keys:
 *   party:<Entity>:<party>                            every stakeholder but the operator
 *   name:<name>                                       AnsEntry
 *   context:<request>                                 AnsEntryContext
 *   reference:<request>                               Subscription, SubscriptionInitialPayment, TerminatedSubscription
 *   subscription:<Subscription>                       SubscriptionIdleState, SubscriptionPayment
 *   confirmations:<payment>, confirmations:<action>   Confirmation
 *   offers:<sender>                                   TransferInstruction
 *   rounds                                            OpenMiningRound
 *   address:<super-validator>                         ScanAddress
 *   singleton:<Entity>                                DsoRules, AnsRules, CoinRules
 *
 * Lists by amount have keys of their own, which interpretation does not read:
 *   amount:<Entity>:<party>                           Coin, LockedCoin, TransferInstruction
 */
import type { Amount, Contract, PartyId } from '@quorumscan/model'
import type { DueItem } from './ports.ts'
import { REGISTRY, type Registry } from './registry.ts'
import { ownPayloadOf, type Template } from './template.ts'

const keysByContract = new WeakMap<Contract, readonly string[]>()

/** Index keys of a contract: those of its stakeholders, and those of its template. */
export function keysOf(contract: Contract, { templateOf }: Registry = REGISTRY): readonly string[] {
  const known = keysByContract.get(contract)
  if (known !== undefined) return known
  const template = templateOf(contract)
  const keys = keysOfPayload(contract, template, ownPayloadOf(template, contract))
  keysByContract.set(contract, keys)
  return keys
}

/** The key of a party's contracts of an entity, the newest first. */
export function partyKey(entity: string, party: PartyId): string {
  return `party:${entity}:${party}`
}

/** The key of a party's contracts of an entity by amount, the largest first. The replica keeps their sum. */
export function amountKey(entity: string, party: PartyId): string {
  return `amount:${entity}:${party}`
}

/** A list by amount that has a contract, and its amount there. */
export type AmountEntry = { readonly key: string; readonly amount: Amount }

/** The lists by amount that have the contract. */
export function amountsOf(contract: Contract): readonly AmountEntry[] {
  const template = REGISTRY.templateOf(contract)
  return amountsOfPayload(template, ownPayloadOf(template, contract))
}

/** As `amountsOf`, of a payload in native form. */
export function amountsOfPayload<P>(template: Template<P>, payload: P): readonly AmountEntry[] {
  return template
    .stakes(payload)
    .map(({ party, amount }) => ({ key: amountKey(template.entity, party), amount }))
}

/** Jobs that fall due while the contract is active, by record time. */
export function dueOf(contract: Contract): readonly DueItem[] {
  const template = REGISTRY.templateOf(contract)
  return dueOfPayload(contract, template, ownPayloadOf(template, contract))
}

/** The stakeholders of a contract but the operator, who has a stake in each. */
export function stakeholdersOf(contract: Contract): readonly PartyId[] {
  const template = REGISTRY.templateOf(contract)
  return withoutOperator(contract, template.dso(ownPayloadOf(template, contract)))
}

function withoutOperator({ signatories, observers }: Contract, dso: PartyId): readonly PartyId[] {
  return [...signatories, ...observers].filter((stakeholder) => stakeholder !== dso)
}

/** As `keysOf`, of a payload in native form. */
export function keysOfPayload<P>(contract: Contract, template: Template<P>, payload: P) {
  const stakeholders = withoutOperator(contract, template.dso(payload))
  return [
    ...stakeholders.map((stakeholder) => partyKey(template.entity, stakeholder)),
    ...template.keys(payload),
  ]
}

/** As `dueOf`, of a payload in native form. */
export function dueOfPayload<P>(contract: Contract, template: Template<P>, payload: P) {
  return template
    .due(payload, contract)
    .map(({ job, at }) => ({ job, contractId: contract.contractId, at }))
}
