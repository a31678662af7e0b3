/**
 * Receipts (D-41, D-42): an answer with the signatures of enough nodes, which anybody who knows the
 * genesis can check, offline, years later. The format is in RECEIPTS.md.
 */

import { type CryptoPort, createWebCrypto } from '../crypto/crypto.ts'
import { fromHex, toHex, utf8 } from '../encoding/bytes.ts'
import { canonicalJson, type Json } from '../encoding/canonical-json.ts'
import { parseStrictJson } from '../encoding/strict-json.ts'
import { formatInstant } from '../encoding/time.ts'
import { type Genesis, maxFaulty } from '../genesis/genesis.ts'
import { hashGenesis } from '../genesis/genesis-hash.ts'
import type { Decided } from '../votes/outcome.ts'
import { type CanonicalRequest, canonicalRequest } from './requests.ts'
import { encodeAnswerStatement, type HistoryPoint, STATEMENT_TAGS } from './statements.ts'

/** Hashes, answer and signatures in lower-case hex; record time in µs since the epoch. */
export type Receipt = {
  readonly tag: typeof STATEMENT_TAGS.answer
  readonly genesis_hash: string
  readonly offset: number
  readonly record_time: number
  readonly history_hash: string
  readonly request: CanonicalRequest
  readonly answer: string
  readonly signatures: readonly (readonly [node: string, signature: string])[]
}

export type ReceiptErrorCode =
  | 'MALFORMED'
  | 'OTHER_GENESIS'
  | 'OTHER_REQUEST'
  | 'BAD_SIGNATURE'
  | 'TOO_FEW_SIGNERS'
  | 'TOO_OLD'

/** The receipt proves nothing; the message says why, for a person. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError'
  readonly code: ReceiptErrorCode

  constructor(code: ReceiptErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export type VerifiedReceipt = HistoryPoint & {
  readonly request: CanonicalRequest
  /** The bytes that the nodes signed, such as `{"entry":null}`. */
  readonly answer: Uint8Array<ArrayBuffer>
  /** In genesis order. */
  readonly signers: readonly string[]
  /** Signers that were needed. */
  readonly threshold: number
}

/** What a verifier decides with; only tests hand in others. */
export type ReceiptDecisions = {
  isGenesis(claimed: string, expected: string): boolean
  isRequest(claimed: CanonicalRequest, expected: CanonicalRequest): boolean
}

export const RECEIPT_DECISIONS: ReceiptDecisions = {
  isGenesis: (claimed, expected) => claimed === expected,
  isRequest: (claimed, expected) => canonicalText(claimed) === canonicalText(expected),
}

const MEMBERS = [
  'answer',
  'genesis_hash',
  'history_hash',
  'offset',
  'record_time',
  'request',
  'signatures',
  'tag',
]

/**
 * The receipt of an answer that was read with `sign`.
 *
 * @throws {RangeError} If fewer signatures came with the answer than the threshold it was decided at.
 */
export function createReceipt(input: {
  readonly outcome: Decided
  readonly request: CanonicalRequest
  readonly genesisHash: string
}): Receipt {
  const { outcome } = input
  if (outcome.signatures.length < outcome.threshold)
    throw new RangeError('the answer was not read with signatures')
  return {
    tag: STATEMENT_TAGS.answer,
    genesis_hash: input.genesisHash,
    offset: outcome.offset,
    record_time: outcome.recordTime,
    history_hash: outcome.historyHash,
    request: { operation: input.request.operation, parameters: input.request.parameters },
    answer: toHex(outcome.answer),
    signatures: outcome.signatures,
  }
}

/** The receipt as a file: RFC 8785 JSON. */
export function encodeReceipt(receipt: Receipt): string {
  return canonicalJson(receipt as unknown as Json) // A receipt is JSON by construction.
}

/** The body of `application/vnd.quorumscan.verified+json` (D-42). `answer` is null where there is none. */
export function encodeVerifiedBody(input: {
  readonly status: number
  readonly receipt: Receipt
}): Uint8Array<ArrayBuffer> {
  const answer = new TextDecoder().decode(fromHex(input.receipt.answer))
  return utf8(
    `{"status":${input.status},"answer":${answer},"receipt":${encodeReceipt(input.receipt)}}`,
  )
}

/**
 * Verifies a receipt: enough distinct nodes of this genesis signed exactly this answer to exactly this
 * request. What the receipt says about itself counts for nothing.
 *
 * @param receipt - Its text, or the object parsed from it. Only in a text doubled members can be seen.
 * @param options.request - `any` if the caller looks at the request that is returned.
 * @param options.threshold - More signers than f + 1.
 * @throws {ReceiptError} If it is not valid.
 * @throws {RangeError} If more signers are asked for than there are nodes, or what is no number.
 */
export async function verifyReceipt(
  receipt: unknown,
  options: {
    readonly genesis: Genesis
    readonly request: CanonicalRequest | 'any'
    readonly threshold?: number
    readonly freshness?: { readonly maxAgeMs: number; readonly nowMicros: number }
    readonly crypto?: CryptoPort
  },
  decisions: ReceiptDecisions = RECEIPT_DECISIONS,
): Promise<VerifiedReceipt> {
  const { genesis, crypto = createWebCrypto() } = options
  const threshold = Math.max(maxFaulty(genesis.nodes.length) + 1, options.threshold ?? 0)
  // Also what is no number, which no count of signers would be below.
  if (!(threshold <= genesis.nodes.length))
    throw new RangeError(`there are only ${genesis.nodes.length} nodes`)
  const claimed = parseReceipt(receipt)
  const genesisHash = await hashGenesis(genesis, crypto)
  if (!decisions.isGenesis(claimed.genesis_hash, genesisHash))
    throw new ReceiptError('OTHER_GENESIS', 'the receipt is from another network')
  if (options.request !== 'any' && !decisions.isRequest(claimed.request, options.request))
    throw new ReceiptError('OTHER_REQUEST', 'the receipt is for another request')
  const answer = fromHex(claimed.answer)
  const message = encodeAnswerStatement({
    genesisHash: claimed.genesis_hash,
    offset: claimed.offset,
    recordTime: claimed.record_time,
    historyHash: claimed.history_hash,
    requestHash: toHex(await crypto.sha256(canonicalRequest(claimed.request))),
    answerHash: toHex(await crypto.sha256(answer)),
  })
  const signers = await checkSigners({ claimed, genesis, message, crypto })
  if (signers.length < threshold)
    throw new ReceiptError(
      'TOO_FEW_SIGNERS',
      `${signers.length} nodes signed the receipt, ${threshold} are needed`,
    )
  checkAge(claimed.record_time, options.freshness)
  return {
    request: claimed.request,
    answer,
    offset: claimed.offset,
    recordTime: claimed.record_time,
    historyHash: claimed.history_hash,
    signers,
    threshold,
  }
}

async function checkSigners(input: {
  readonly claimed: Receipt
  readonly genesis: Genesis
  readonly message: Uint8Array<ArrayBuffer>
  readonly crypto: CryptoPort
}): Promise<string[]> {
  const signatureByNode = new Map<string, string>()
  for (const [node, signature] of input.claimed.signatures) {
    if (signatureByNode.has(node))
      throw new ReceiptError('MALFORMED', `${node} signed the receipt twice`)
    signatureByNode.set(node, signature)
  }
  const signers: string[] = []
  for (const node of input.genesis.nodes) {
    const signature = signatureByNode.get(node.name)
    if (signature === undefined) continue
    const isValid = await input.crypto.verifyEd25519({
      publicKey: fromHex(node.scanKey),
      signature: fromHex(signature),
      message: input.message,
    })
    if (!isValid)
      throw new ReceiptError('BAD_SIGNATURE', `the signature of ${node.name} does not fit`)
    signers.push(node.name)
  }
  if (signers.length < signatureByNode.size)
    throw new ReceiptError('BAD_SIGNATURE', 'a signer is no node of the network')
  return signers
}

function checkAge(
  recordTime: number,
  freshness: { readonly maxAgeMs: number; readonly nowMicros: number } | undefined,
): void {
  if (freshness === undefined) return
  if (!(freshness.nowMicros - recordTime <= freshness.maxAgeMs * 1000))
    throw new ReceiptError('TOO_OLD', `the receipt is of ${formatInstant(recordTime)}`)
}

/** Checks the form alone. @throws {ReceiptError} MALFORMED. */
export function parseReceipt(receipt: unknown): Receipt {
  const value = typeof receipt === 'string' ? parseText(receipt) : receipt
  const claimed = membersOf(value, MEMBERS, 'the receipt')
  check(claimed['tag'] === STATEMENT_TAGS.answer, 'the tag is unknown')
  check(isHash(claimed['genesis_hash']), 'genesis_hash is no hash')
  check(isHash(claimed['history_hash']), 'history_hash is no hash')
  check(isUnsigned(claimed['offset']), 'offset is no offset')
  check(isUnsigned(claimed['record_time']), 'record_time is no time')
  check(isHex(claimed['answer']), 'answer is no hex')
  const request = membersOf(claimed['request'], ['operation', 'parameters'], 'the request')
  check(typeof request['operation'] === 'string', 'the operation is no text')
  const { parameters } = request
  check(typeof parameters === 'object' && parameters !== null, 'the parameters are no object')
  canonicalText(request as CanonicalRequest)
  const { signatures } = claimed
  check(Array.isArray(signatures) && signatures.every(isSigned), 'the signatures are malformed')
  return value as Receipt
}

function parseText(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'no JSON'
    throw new ReceiptError('MALFORMED', `the receipt cannot be read: ${why}`, { cause })
  }
}

function canonicalText(request: CanonicalRequest): string {
  try {
    return new TextDecoder().decode(canonicalRequest(request))
  } catch (cause) {
    throw new ReceiptError('MALFORMED', 'the request has no canonical form', { cause })
  }
}

function membersOf(
  value: unknown,
  names: readonly string[],
  what: string,
): Readonly<Record<string, unknown>> {
  check(
    typeof value === 'object' && value !== null && !Array.isArray(value),
    `${what} is no object`,
  )
  const members = Object.keys(value)
  for (const name of names) check(members.includes(name), `${what} lacks ${name}`)
  for (const name of members) check(names.includes(name), `${what} has an unknown member`)
  return value as Record<string, unknown>
}

function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ReceiptError('MALFORMED', message)
}

const isHash = (value: unknown): boolean =>
  typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
const isHex = (value: unknown): boolean =>
  typeof value === 'string' && /^(?:[0-9a-f]{2})*$/.test(value)
const isUnsigned = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const isSigned = (pair: unknown): boolean =>
  Array.isArray(pair) &&
  pair.length === 2 &&
  typeof pair[0] === 'string' &&
  typeof pair[1] === 'string' &&
  /^[0-9a-f]{128}$/.test(pair[1])
