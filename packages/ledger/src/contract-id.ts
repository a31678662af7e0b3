/** Ids of updates and contracts: hashes of what they stand for (D-31). */
import { concatBytes, fromHex, sha256Hex, utf8 } from '@quorumscan/base'
import { canonicalJson } from '@quorumscan/consensus'
import {
  type Contract,
  type ContractId,
  type DisclosedContract,
  formatTime,
  type Micros,
  type Offset,
} from '@quorumscan/model'

const UPDATE_TAG = utf8('quorumscan/update/2\0')
const CONTRACT_TAG = 'quorumscan/contract/1\0'

/** u64, big-endian: integers in hashed binary. */
export function u64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, Math.floor(value / 2 ** 32))
  view.setUint32(4, value % 2 ** 32)
  return bytes
}

/**
 * `1220` and 64 hex digits: where in the log the update stands, so that a stored contract need not hold it.
 * What the update did is in the ids of its contracts and in the history hash.
 */
export function updateIdOf(input: {
  /** Hex. */
  readonly genesisHash: string
  readonly offset: Offset
  readonly recordTime: Micros
}): string {
  const parts = [UPDATE_TAG, fromHex(input.genesisHash), u64(input.offset), u64(input.recordTime)]
  return `1220${sha256Hex(concatBytes(parts))}`
}

type Identified = Pick<Contract, 'updateId' | 'nodeId' | 'templateId' | 'payload'>

const payloadTexts = new WeakMap<object, string>()

/** The canonical JSON of a payload, made once for the contract id and the history. */
export function payloadText(payload: Contract['payload']): string {
  let text = payloadTexts.get(payload)
  if (text === undefined) {
    text = canonicalJson(payload)
    payloadTexts.set(payload, text)
  }
  return text
}

/** Tells the text of a payload that is in canonical order: what `Lf.encode` gave, or was stored so. */
export function rememberPayloadText(payload: Contract['payload']): void {
  payloadTexts.set(payload, JSON.stringify(payload))
}

/** The bytes of `createdEventBlob`: exactly what the contract id hashes. */
export function contractBlob({ nodeId, payload, templateId, updateId }: Identified): Uint8Array {
  const text = payloadText(payload)
  // Canonical JSON by hand: members in order, ids without anything to escape.
  return utf8(
    `${CONTRACT_TAG}{"nodeId":${nodeId},"payload":${text},"templateId":"${templateId}","updateId":"${updateId}"}`,
  )
}

/** `00` and SHA-256 of the blob. */
export function contractIdOf(contract: Identified): ContractId {
  return `00${sha256Hex(contractBlob(contract))}`
}

export type WireContract = ReturnType<typeof toWireContract>

/** As scan and wallet show it. */
export function toWireContract(contract: Contract) {
  return {
    template_id: contract.templateId,
    contract_id: contract.contractId,
    payload: contract.payload,
    created_event_blob: disclose(contract).blob,
    created_at: formatTime(contract.createdAt),
  }
}

/** What a submission says of a contract that its parties are no stakeholders of, to use it. */
export function disclose(contract: Contract): DisclosedContract {
  return {
    contractId: contract.contractId,
    blob: Buffer.from(contractBlob(contract)).toString('base64'),
  }
}

/** Whether a disclosed blob (base64) is the one that the id hashes. */
export function isBlobOf(contractId: ContractId, blob: string): boolean {
  const bytes = Buffer.from(blob, 'base64')
  return bytes.toString('base64') === blob && `00${sha256Hex(bytes)}` === contractId
}

export type DisclosedBlob = { readonly contractId: ContractId; readonly templateId: string }

/** What a disclosed blob (base64) is of; undefined unless it has the form of `contractBlob`. */
export function readBlob(blob: string): DisclosedBlob | undefined {
  const bytes = Buffer.from(blob, 'base64')
  const text = bytes.toString('utf8')
  if (bytes.toString('base64') !== blob || !text.startsWith(CONTRACT_TAG)) return undefined
  try {
    const { templateId } = JSON.parse(text.slice(CONTRACT_TAG.length))
    if (typeof templateId !== 'string') return undefined
    return { contractId: `00${sha256Hex(bytes)}`, templateId }
  } catch {
    return undefined // No JSON, hence no blob of ours.
  }
}
