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
 */
import type { Contract } from '@quorumscan/model'
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

/** Jobs that fall due while the contract is active, by record time. */
export function dueOf(contract: Contract): readonly DueItem[] {
  const template = REGISTRY.templateOf(contract)
  return dueOfPayload(contract, template, ownPayloadOf(template, contract))
}

/** As `keysOf`, of a payload in native form. */
export function keysOfPayload<P>(contract: Contract, template: Template<P>, payload: P) {
  const dso = template.dso(payload)
  const keys: string[] = []
  for (const stakeholder of contract.signatories)
    if (stakeholder !== dso) keys.push(`party:${template.entity}:${stakeholder}`)
  for (const stakeholder of contract.observers)
    if (stakeholder !== dso) keys.push(`party:${template.entity}:${stakeholder}`)
  keys.push(...template.keys(payload))
  return keys
}

/** As `dueOf`, of a payload in native form. */
export function dueOfPayload<P>(contract: Contract, template: Template<P>, payload: P) {
  return template
    .due(payload, contract)
    .map(({ job, at }) => ({ job, contractId: contract.contractId, at }))
}
