/**
 * The stored form of a contract: compact, canonical, and free of what follows from the rest (ids of update,
 * contract and template, stakeholders, the operator). An entry with all its contracts takes some 600 bytes.
 */
import { assert, ByteReader } from '@quorumscan/base'
import type { Contract, Offset, PartyId } from '@quorumscan/model'
import { contractIdOf, rememberPayloadText, updateIdOf } from './contract-id.ts'
import { PackReader, PackWriter } from './packing.ts'
import { templateIdOf, templateOf, templates } from './registry.ts'
import { encodePayload, payloadOf, rememberPayload, stakeholdersOf } from './template.ts'

export interface ContractCodec {
  encode(contract: Contract): Uint8Array
  /** Trusts the bytes: they are what `encode` wrote, for the same network. */
  decode(bytes: Uint8Array): Contract
  /** Where in the log the contract was created, without decoding it. */
  offsetOf(bytes: Uint8Array): Offset
}

/** For the contracts of one network. */
export function createContractCodec(network: {
  /** Hex. */
  readonly genesisHash: string
  readonly dso: PartyId
}): ContractCodec {
  const { genesisHash, dso } = network
  const known = [dso]
  return {
    encode(contract) {
      const template = templateOf(contract)
      const writer = new PackWriter(known)
      writer.unsigned(templates.indexOf(template))
      writer.unsigned(contract.createdAt)
      writer.unsigned(contract.offset)
      writer.unsigned(contract.nodeId)
      template.type.pack(payloadOf(template, contract), writer)
      return writer.finish()
    },
    decode(bytes) {
      const reader = new PackReader(bytes, known)
      const template = templates[reader.unsigned()]
      assert(template !== undefined, 'a stored contract is of a known template')
      const createdAt = reader.unsigned()
      const offset = reader.unsigned()
      const nodeId = reader.unsigned()
      const updateId = updateIdOf({ genesisHash, offset, recordTime: createdAt })
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
    },
    offsetOf(bytes) {
      const reader = new ByteReader(bytes)
      reader.unsigned() // The template,
      reader.unsigned() // and when.
      return reader.unsigned()
    },
  }
}
