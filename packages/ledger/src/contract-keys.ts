/** How contracts are filed, and when work on them falls due. */
import type { Contract } from '@quorumscan/model'
import type { DueItem } from './ports.ts'
import { templateOf } from './registry.ts'
import { payloadOf } from './template.ts'

const keysByContract = new WeakMap<Contract, readonly string[]>()

/**
 * Index keys of a contract: `party:<Entity>:<party>` for every stakeholder but the operator, and those
 * of its template, which README.md lists.
 */
export function keysOf(contract: Contract): readonly string[] {
  const known = keysByContract.get(contract)
  if (known !== undefined) return known
  const template = templateOf(contract)
  const payload = payloadOf(template, contract)
  const dso = template.dso(payload)
  const keys: string[] = []
  for (const stakeholder of contract.signatories)
    if (stakeholder !== dso) keys.push(`party:${template.entity}:${stakeholder}`)
  for (const stakeholder of contract.observers)
    if (stakeholder !== dso) keys.push(`party:${template.entity}:${stakeholder}`)
  keys.push(...template.keys(payload))
  keysByContract.set(contract, keys)
  return keys
}

/** Jobs that fall due while the contract is active, by record time. */
export function dueOf(contract: Contract): readonly DueItem[] {
  const template = templateOf(contract)
  return template
    .due(payloadOf(template, contract), contract)
    .map(({ job, at }) => ({ job, contractId: contract.contractId, at }))
}
