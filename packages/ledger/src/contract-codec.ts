/** The stored form of a contract: compact, canonical, and free of what follows from the rest. */
import { assert, fromUtf8, utf8 } from '@quorumscan/base'
import type { Contract, DamlValue, PartyId } from '@quorumscan/model'
import { contractIdOf, rememberPayloadText } from './contract-id.ts'
import { templateIdOf, templateOf, templates } from './registry.ts'
import { payloadOf } from './template.ts'

type Stored = readonly [
  template: number,
  payload: { readonly [field: string]: DamlValue },
  createdAt: number,
  offset: number,
  updateId: string,
  nodeId: number,
]

export function encodeContract(contract: Contract): Uint8Array {
  const stored: Stored = [
    templates.indexOf(templateOf(contract)),
    contract.payload,
    contract.createdAt,
    contract.offset,
    contract.updateId,
    contract.nodeId,
  ]
  return utf8(JSON.stringify(stored))
}

/** Trusts the bytes: they are what `encodeContract` wrote. */
export function decodeContract(bytes: Uint8Array): Contract {
  const [index, payload, createdAt, offset, updateId, nodeId] = JSON.parse(
    fromUtf8(bytes),
  ) as Stored
  const template = templates[index]
  assert(template !== undefined, 'a stored contract is of a known template')
  rememberPayloadText(payload)
  const identified = { templateId: templateIdOf(template), payload, updateId, nodeId }
  const contract: Contract = {
    ...identified,
    contractId: contractIdOf(identified),
    packageName: template.packageName,
    signatories: [],
    observers: [],
    createdAt,
    offset,
  }
  const decoded = payloadOf(template, contract)
  const signatories = sortedUnique(template.signatories(decoded))
  const observers = sortedUnique(template.observers(decoded)).filter(
    (party) => !signatories.includes(party),
  )
  return { ...contract, signatories, observers }
}

function sortedUnique(parties: readonly PartyId[]): readonly PartyId[] {
  return [...new Set(parties)].sort()
}
