/**
 * The bytes of a log entry: `0x01 ‖ participant key (32) ‖ Ed25519 signature (64) ‖ body`, where the body
 * is the canonical JSON of a submission. Empty bytes are a checkpoint. Replicas ignore all other
 * bytes, and entries that are not signed for this network (Rules 1 and 4).
 */
import {
  concatBytes,
  fromHex,
  fromUtf8,
  type KeyPair,
  sha256Hex,
  toHex,
  utf8,
  verifySignature,
} from '@quorumscan/base'
import type { Submission } from '@quorumscan/model'
import {
  canonicalJson,
  encodeSubmissionStatement,
  isUsableKey,
  type Json,
} from '@quorumscan/verifier'
import { ENTRY_BYTES_MAX, JSON_DEPTH_MAX } from './limits.ts'
import { isSubmission } from './submission.ts'

/** Why an entry is ignored. The texts are part of the hashed result, and so permanent. */
export type IgnoredReason =
  | 'too large'
  | 'malformed'
  | 'other network'
  | 'bad signature'
  | 'not after'
  | 'not bound'
  | 'seen before'

export type DecodedEntry =
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'ignored'; readonly reason: IgnoredReason }
  | {
      readonly kind: 'submission'
      readonly submission: Submission
      /** SHA-256 of the entry's bytes, hex. */
      readonly entryHash: string
    }

const FORMAT = 0x01
const KEY_END = 33
const BODY_START = 97

/** A submission in bytes, before it is signed. */
export type UnsignedEntry = {
  /** Of the entry. */
  readonly byteLength: number
  sign(): Uint8Array
}

/**
 * The entry of a submission, whose `participant` must be the key pair's public key.
 *
 * @throws {RangeError} If the submission is not the key pair's, is malformed, or too large.
 */
export function prepareEntry(submission: Submission, keyPair: KeyPair): UnsignedEntry {
  if (submission.participant !== keyPair.publicKey)
    throw new RangeError('a submission is signed by its own participant')
  const body = utf8(canonicalJson(submission))
  if (decodeSubmission(body) === undefined) throw new RangeError('the submission is malformed')
  const byteLength = BODY_START + body.byteLength
  if (byteLength > ENTRY_BYTES_MAX)
    throw new RangeError(`an entry has at most ${ENTRY_BYTES_MAX} bytes`)
  return {
    byteLength,
    sign: () =>
      concatBytes([
        Uint8Array.of(FORMAT),
        fromHex(keyPair.publicKey),
        keyPair.sign(signedBytes(submission.genesis, body)),
        body,
      ]),
  }
}

/** Signs a submission. @throws {RangeError} As `prepareEntry`. */
export function encodeEntry(submission: Submission, keyPair: KeyPair): Uint8Array {
  return prepareEntry(submission, keyPair).sign()
}

/** Decodes strictly; never throws. `genesisHash` is hex. */
export function decodeEntry(bytes: Uint8Array, genesisHash: string): DecodedEntry {
  const read = readEntry(bytes, genesisHash)
  if (read.kind !== 'submission' || isEntrySigned(bytes, genesisHash)) return read
  return { kind: 'ignored', reason: 'bad signature' }
}

/** As `decodeEntry`, without the check of the signature, which is most of the work (`isEntrySigned`). */
export function readEntry(bytes: Uint8Array, genesisHash: string): DecodedEntry {
  if (bytes.byteLength === 0) return { kind: 'checkpoint' }
  if (bytes.byteLength > ENTRY_BYTES_MAX) return { kind: 'ignored', reason: 'too large' }
  if (bytes.byteLength <= BODY_START || bytes[0] !== FORMAT)
    return { kind: 'ignored', reason: 'malformed' }
  const body = bytes.subarray(BODY_START)
  const submission = decodeSubmission(body)
  const publicKey = toHex(bytes.subarray(1, KEY_END))
  // Under an unusable key a signature proves nothing, or a second spelling of a key counts as another key (D-41).
  if (submission === undefined || submission.participant !== publicKey || !isUsableKey(publicKey))
    return { kind: 'ignored', reason: 'malformed' }
  if (submission.genesis !== genesisHash) return { kind: 'ignored', reason: 'other network' }
  return { kind: 'submission', submission, entryHash: sha256Hex(bytes) }
}

/** The key that an entry names as its signer, hex; null for another form. Verifies nothing. */
export function entryKey(bytes: Uint8Array): string | null {
  return bytes.byteLength > BODY_START && bytes[0] === FORMAT
    ? toHex(bytes.subarray(1, KEY_END))
    : null
}

/** Whether the key in an entry that `readEntry` could read signed it. */
export function isEntrySigned(bytes: Uint8Array, genesisHash: string): boolean {
  return verifySignature({
    publicKey: toHex(bytes.subarray(1, KEY_END)),
    message: signedBytes(genesisHash, bytes.subarray(BODY_START)),
    signature: bytes.subarray(KEY_END, BODY_START),
  })
}

/** Reads a body; undefined unless it is the canonical JSON of a well-formed submission. */
export function decodeSubmission(body: Uint8Array): Submission | undefined {
  try {
    const text = fromUtf8(body)
    const value: unknown = JSON.parse(text)
    if (!isPlain(value, JSON_DEPTH_MAX)) return undefined
    // Being canonical excludes duplicate members, floats, unsafe integers, lone surrogates and -0 at once.
    if (canonicalJson(value) !== text) return undefined
    return isSubmission(value) ? value : undefined
  } catch {
    // The parsers have refused it.
    return undefined
  }
}

function signedBytes(genesisHash: string, body: Uint8Array): Uint8Array {
  return encodeSubmissionStatement({ genesisHash, bodyHash: sha256Hex(body) })
}

function isPlain(value: unknown, depthLeft: number): value is Json {
  if (typeof value !== 'object' || value === null) return true
  if (depthLeft === 0) return false
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depthLeft - 1))
  return Object.entries(value).every(
    ([key, item]) => key !== '__proto__' && isPlain(item, depthLeft - 1),
  )
}
