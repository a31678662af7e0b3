/**
 * The stored form of a contract: compact, canonical, and free of what follows from the rest (ids of
 * contract and template, stakeholders). An entry with all its contracts takes some 900 bytes.
 */
import { assert } from '@quorumscan/base'
import type { Contract } from '@quorumscan/model'
import { contractIdOf, rememberPayloadText } from './contract-id.ts'
import { PackReader, PackWriter } from './packing.ts'
import { templateIdOf, templateOf, templates } from './registry.ts'
import { encodePayload, payloadOf, rememberPayload, stakeholdersOf } from './template.ts'

/** `1220` of an update id. */
const UPDATE_PREFIX = '1220'

export function encodeContract(contract: Contract): Uint8Array {
  const template = templateOf(contract)
  const writer = new PackWriter()
  writer.unsigned(templates.indexOf(template))
  writer.unsigned(contract.createdAt)
  writer.unsigned(contract.offset)
  writer.unsigned(contract.nodeId)
  writer.hash(contract.updateId.slice(UPDATE_PREFIX.length))
  template.type.pack(payloadOf(template, contract), writer)
  return writer.finish()
}

/** Trusts the bytes: they are what `encodeContract` wrote. */
export function decodeContract(bytes: Uint8Array): Contract {
  const reader = new PackReader(bytes)
  const template = templates[reader.unsigned()]
  assert(template !== undefined, 'a stored contract is of a known template')
  const createdAt = reader.unsigned()
  const offset = reader.unsigned()
  const nodeId = reader.unsigned()
  const updateId = UPDATE_PREFIX + reader.hash()
  const native = template.type.unpack(reader)
  const payload = encodePayload(template, native)
  rememberPayloadText(payload)
  const identified = { templateId: templateIdOf(template), payload, updateId, nodeId }
  const contract: Contract = {
    ...identified,
    ...stakeholdersOf(template, native),
    contractId: contractIdOf(identified),
    packageName: template.packageName,
    createdAt,
    offset,
  }
  rememberPayload(contract, native)
  return contract
}
