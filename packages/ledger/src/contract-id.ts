/** Ids of updates and contracts: hashes of what they stand for (D-31). */
import { concatBytes, fromHex, sha256, toHex, utf8 } from '@quorumscan/base'
import { canonicalJson } from '@quorumscan/consensus'
import type { Contract, ContractId, Offset } from '@quorumscan/model'

const UPDATE_TAG = utf8('quorumscan/update/1\0')
const CONTRACT_TAG = 'quorumscan/contract/1\0'

/** u64, big-endian: integers in hashed binary. */
export function u64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value))
  return bytes
}

/** `1220` and 64 hex digits. Hashes are hex. */
export function updateIdOf(input: {
  readonly genesisHash: string
  readonly offset: Offset
  readonly entryHash: string
}): string {
  const parts = [
    UPDATE_TAG,
    fromHex(input.genesisHash),
    u64(input.offset),
    fromHex(input.entryHash),
  ]
  return `1220${toHex(sha256(concatBytes(parts)))}`
}

type Identified = Pick<Contract, 'updateId' | 'nodeId' | 'templateId' | 'payload'>

/** The bytes of `createdEventBlob`: exactly what the contract id hashes. */
export function contractBlob(contract: Identified): Uint8Array {
  const { nodeId, payload, templateId, updateId } = contract
  return utf8(CONTRACT_TAG + canonicalJson({ nodeId, payload, templateId, updateId }))
}

/** `00` and SHA-256 of the blob. */
export function contractIdOf(contract: Identified): ContractId {
  return `00${toHex(sha256(contractBlob(contract)))}`
}

/** Whether a disclosed blob (base64) is the one that the id hashes. */
export function isBlobOf(contractId: ContractId, blob: string): boolean {
  const bytes = Buffer.from(blob, 'base64')
  return bytes.toString('base64') === blob && `00${toHex(sha256(bytes))}` === contractId
}
