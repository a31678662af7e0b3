/**
 * The stored form of a contract: compact, canonical, and without derived values (ids of update,
 * contract and template, stakeholders, the operator). An entry with all its contracts takes some 600 bytes.
 */
import { assert, ByteReader } from '@quorumscan/base'
import type { Contract, Offset, PartyId } from '@quorumscan/model'
import { contractIdOf, rememberPayloadText, updateIdOf } from './contract-id.ts'
import { type AmountEntry, amountsOfPayload, dueOfPayload, keysOfPayload } from './contract-keys.ts'
import { PackReader, PackWriter } from './packing.ts'
import type { DueItem } from './ports.ts'
import { REGISTRY, type Registry } from './registry.ts'
import { encodePayload, ownPayloadOf, rememberPayload, stakeholdersOf } from './template.ts'

/** A contract with its index keys (`keysOf`), amounts (`amountsOf`) and due times (`dueOf`). */
export type FiledContract = {
  readonly contract: Contract
  readonly keys: readonly string[]
  readonly amounts: readonly AmountEntry[]
  readonly due: readonly DueItem[]
}

export type ContractCodec = ReturnType<typeof createContractCodec>

/** For the contracts of one network. */
export function createContractCodec(
  network: {
    /** Hex. */
    readonly genesisHash: string
    readonly dso: PartyId
  },
  { templateIdOf, templateOf, templates }: Registry = REGISTRY,
) {
  const { genesisHash, dso } = network
  const known = [dso]

  const read = (bytes: Uint8Array) => {
    const reader = new PackReader(bytes, known)
    const template = templates[reader.unsigned()]
    assert(template !== undefined, 'a stored contract is of a known template')
    const createdAt = reader.unsigned()
    const offset = reader.unsigned()
    const nodeId = reader.unsigned()
    const updateId = updateIdOf({ genesisHash, offset, recordTime: createdAt })
    const native = template.type.unpack(reader)
    const payload = encodePayload(template, native)
    const text = JSON.stringify(payload)
    const identified = { templateId: templateIdOf(template), payload, updateId, nodeId }
    const contract: Contract = {
      ...identified,
      ...stakeholdersOf(template, native),
      contractId: contractIdOf(identified, text),
      packageName: template.packageName,
      createdAt,
      offset,
    }
    return { contract, template, payload: native, text }
  }

  return {
    encode(contract: Contract): Uint8Array {
      const template = templateOf(contract)
      const writer = new PackWriter(known)
      writer.unsigned(templates.indexOf(template))
      writer.unsigned(contract.createdAt)
      writer.unsigned(contract.offset)
      writer.unsigned(contract.nodeId)
      template.type.pack(ownPayloadOf(template, contract), writer)
      return writer.finish()
    },
    /** Trusts the bytes: `encode` wrote them, for the same network. */
    decode(bytes: Uint8Array): Contract {
      const { contract, payload, text } = read(bytes)
      rememberPayloadText(contract.payload, text)
      rememberPayload(contract, payload)
      return contract
    },
    /**
     * As `decode`, with the index keys, amounts and due times of the contract. It caches nothing, for callers that read very many
     * contracts once.
     */
    decodeFiled(bytes: Uint8Array): FiledContract {
      const { contract, template, payload } = read(bytes)
      return {
        contract,
        keys: keysOfPayload(contract, template, payload),
        amounts: amountsOfPayload(template, payload),
        due: dueOfPayload(contract, template, payload),
      }
    },
    /** The offset at which the contract was created. The contract is not decoded. */
    offsetOf(bytes: Uint8Array): Offset {
      const reader = new ByteReader(bytes)
      reader.unsigned() // The template.
      reader.unsigned() // The record time.
      return reader.unsigned()
    },
  }
}
