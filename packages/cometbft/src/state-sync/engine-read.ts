/**
 * Reads of another member's engine. Request and answer are signed with the keys by which the two engines know each other,
 * and every engine that may connect may ask. So no carrier in between needs trust. Pure.
 */
import {
  concatBytes,
  fromHex,
  fromUtf8,
  type KeyPair,
  sha256,
  toHex,
  utf8,
  verifySignature,
} from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Micros } from '@quorumscan/model'
import { isUsableKey, membersOf } from '@quorumscan/verifier'
import { z } from 'zod'
import { nodeIdOf } from '../engine-files.ts'

const decimal = z.coerce.string().regex(/^\d{1,15}$/)
const engineRead = z.object({
  /** `beginnings` is ours (`sync-anchors.ts`); the others are the engine's, and all that its light client asks. */
  method: z.enum(['beginnings', 'commit', 'validators', 'consensus_params']),
  /** Numbers in decimal. */
  params: z.preprocess(
    (params) =>
      Object.fromEntries(Object.entries(membersOf(params)).filter(([, one]) => one !== null)),
    z.partialRecord(z.enum(['height', 'page', 'per_page']), decimal),
  ),
})
export type EngineRead = z.infer<typeof engineRead>

/** What the engine answers; `refusal` is its own sentence. */
export type EngineAnswer = { readonly result: unknown } | { readonly refusal: string }

/** A copied request is worthless after that; clocks are nearer to each other than this. */
const AGE_MICROS_MAX = 60_000_000
const REQUEST_TAG = 'quorumscan/engine-read/1'
const ANSWER_TAG = 'quorumscan/engine-answer/1'

const signedText = z.object({
  text: z.string(),
  key: z.string().refine(isUsableKey),
  signature: z.string().regex(/^[0-9a-f]{128}$/),
})
type Signed = z.infer<typeof signedText>

/** Text and bytes of a request to the engine with this id. */
export function signRequest(
  read: EngineRead,
  options: {
    readonly to: string
    readonly nowMicros: Micros
    /** Hex: no two requests are the same. */
    readonly nonce: string
    readonly genesisHash: string
    readonly key: KeyPair
  },
): { readonly text: string; readonly bytes: Uint8Array } {
  const { to, nowMicros: at, nonce, key, genesisHash } = options
  const text = JSON.stringify({ ...read, to, at, nonce })
  return { text, bytes: encodeSigned(text, key, statementOf(REQUEST_TAG, genesisHash, text)) }
}

const denied = (reason: string): ScanError => new ScanError('PERMISSION_DENIED', reason)

/** @throws {ScanError} INVALID_ARGUMENT, PERMISSION_DENIED. */
export function openRequest(
  bytes: Uint8Array,
  options: {
    /** Id of the engine that is asked. */
    readonly ownId: string
    readonly isPeer: (nodeId: string) => boolean
    readonly nowMicros: Micros
    readonly genesisHash: string
  },
): {
  readonly text: string
  readonly read: EngineRead
  /** The id of the engine that asks. */
  readonly nodeId: string
} {
  const signed = decodeSigned(bytes)
  if (signed === null) throw new ScanError('INVALID_ARGUMENT', 'the request is not signed')
  const { text, key } = signed
  const statement = statementOf(REQUEST_TAG, options.genesisHash, text)
  const nodeId = nodeIdOf(key)
  if (!options.isPeer(nodeId) || !isSigned(signed, statement))
    throw denied('the request is not signed by an engine that may connect to this one')
  const { method, params, to, at } = membersOf(parsed(text))
  if (to !== options.ownId) throw denied('the request is addressed to another engine')
  if (!(Math.abs(Number(at) - options.nowMicros) <= AGE_MICROS_MAX))
    throw denied('the request is too old, or one of the two clocks is wrong')
  const read = readOf(method, params)
  if (read === null)
    throw new ScanError('INVALID_ARGUMENT', 'the method or its parameters are not allowed')
  return { text, read, nodeId }
}

/** The read that a request is for; null: it is malformed. */
export function readOf(method: unknown, params: unknown): EngineRead | null {
  return engineRead.safeParse({ method, params }).data ?? null
}

/** @param request - Its text. */
export function signAnswer(
  answer: EngineAnswer,
  options: { readonly request: string; readonly genesisHash: string; readonly key: KeyPair },
): Uint8Array {
  const text = JSON.stringify(answer)
  const { request, genesisHash, key } = options
  return encodeSigned(text, key, statementOf(ANSWER_TAG, genesisHash, request, text))
}

/** Null: the engine with this id did not sign it, or not as an answer to this request. */
export function openAnswer(
  bytes: Uint8Array,
  options: { readonly from: string; readonly request: string; readonly genesisHash: string },
): EngineAnswer | null {
  const { from, request, genesisHash } = options
  const signed = decodeSigned(bytes)
  if (signed === null || nodeIdOf(signed.key) !== from) return null
  if (!isSigned(signed, statementOf(ANSWER_TAG, genesisHash, request, signed.text))) return null
  const { refusal, result } = membersOf(parsed(signed.text))
  return typeof refusal === 'string' ? { refusal } : { result }
}

/** What is signed: of a request its text; of an answer that of its request, and its own. */
function statementOf(tag: string, genesisHash: string, ...texts: readonly string[]): Uint8Array {
  const hashes = texts.map((text) => sha256(utf8(text)))
  return concatBytes([utf8(`${tag}\0`), fromHex(genesisHash), ...hashes])
}

function encodeSigned(text: string, key: KeyPair, statement: Uint8Array): Uint8Array {
  const signature = toHex(key.sign(statement))
  return utf8(JSON.stringify({ text, key: key.publicKey, signature } satisfies Signed))
}

function decodeSigned(bytes: Uint8Array): Signed | null {
  return signedText.safeParse(parsed(bytes)).data ?? null
}

function isSigned({ key, signature }: Signed, message: Uint8Array): boolean {
  return verifySignature({ publicKey: key, message, signature: fromHex(signature) })
}

/** Undefined: it is not JSON. */
function parsed(input: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof input === 'string' ? input : fromUtf8(input))
  } catch {
    return undefined
  }
}
