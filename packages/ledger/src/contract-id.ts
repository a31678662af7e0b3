/** Ids of updates and contracts: hashes of their content (D-31). */
import { sha256Hex, utf8 } from '@quorumscan/base'
import type { Contract, ContractId, DisclosedContract, Micros, Offset } from '@quorumscan/model'
import { canonicalJson, formatInstant } from '@quorumscan/verifier'

const UPDATE_TAG = utf8('quorumscan/update/2\0')
const GENESIS_HASH_AT = UPDATE_TAG.byteLength
const OFFSET_AT = GENESIS_HASH_AT + 32
const RECORD_TIME_AT = OFFSET_AT + 8
const CONTRACT_TAG = 'quorumscan/contract/1\0'

/** u64, big-endian: integers in hashed binary. */
export function u64(value: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(8)
  writeU64(bytes, 0, value)
  return bytes
}

function writeU64(bytes: Buffer, at: number, value: number): void {
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32), at)
  bytes.writeUInt32BE(value % 2 ** 32, at + 4)
}

/**
 * `1220` and 64 hex digits: the position of the update in the log, so that a stored contract need not contain it.
 * The ids of its contracts and the history hash cover the effects of the update.
 */
export function updateIdOf(input: {
  /** Hex. */
  readonly genesisHash: string
  readonly offset: Offset
  readonly recordTime: Micros
}): string {
  // One array, because this runs for each contract that is read.
  const bytes = Buffer.allocUnsafe(RECORD_TIME_AT + 8)
  bytes.set(UPDATE_TAG)
  bytes.write(input.genesisHash, GENESIS_HASH_AT, 'hex')
  writeU64(bytes, OFFSET_AT, input.offset)
  writeU64(bytes, RECORD_TIME_AT, input.recordTime)
  return `1220${sha256Hex(bytes)}`
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

/** Stores the text of a payload whose members are in canonical order, as `Lf.encode` writes them. */
export function rememberPayloadText(payload: Contract['payload'], text = JSON.stringify(payload)) {
  payloadTexts.set(payload, text)
}

/** The bytes of `createdEventBlob`: exactly what the contract id hashes. */
export function contractBlob(contract: Identified): Uint8Array {
  return utf8(blobText(contract, payloadText(contract.payload)))
}

function blobText({ nodeId, templateId, updateId }: Identified, text: string): string {
  // Canonical JSON by hand: members in order, ids without anything to escape.
  return `${CONTRACT_TAG}{"nodeId":${nodeId},"payload":${text},"templateId":"${templateId}","updateId":"${updateId}"}`
}

/**
 * `00` and SHA-256 of the blob.
 *
 * @param text - The canonical JSON of the payload, if the caller has it.
 */
export function contractIdOf(contract: Identified, text = payloadText(contract.payload)): string {
  return `00${sha256Hex(blobText(contract, text))}`
}

export type WireContract = ReturnType<typeof toWireContract>

/** The form of a contract in answers of scan and wallet. */
export function toWireContract(contract: Contract) {
  return {
    template_id: contract.templateId,
    contract_id: contract.contractId,
    payload: contract.payload,
    created_event_blob: disclose(contract).blob,
    created_at: formatInstant(contract.createdAt),
  }
}

/** The disclosure of a contract, with which a submission can use it although its parties are not stakeholders. */
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

/** The contract of a disclosed blob (base64); undefined unless the blob has the form of `contractBlob`. */
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
