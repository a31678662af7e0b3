/**
 * A bundle: several entries in one engine transaction, because each transaction costs every member more than an entry.
 * Blocks hold entries one by one.
 *
 * `0x00 ‖ key of the sender's engine (32) ‖ signature (64) ‖ not after (8, big endian) ‖ entries`, each entry after its
 * length as a varint. Members of releases before signed bundles send the entries only, and no entry has length 0.
 */
import {
  concatBytes,
  fromHex,
  type KeyPair,
  sha256,
  toHex,
  u64,
  utf8,
  verifySignature,
} from '@quorumscan/base'
import { ENTRY_BYTES_MAX } from '@quorumscan/ledger'
import type { Micros } from '@quorumscan/model'
import { BinaryReader, BinaryWriter } from 'cosmjs-types/binary'

/** Judging as many takes a member some 10 ms. */
export const BUNDLE_ENTRIES_MAX = 64
/** The longest varint of 32 bits. */
const LENGTH_BYTES_MAX = 5
/**
 * The largest entry fits, alone and unsigned. It stays what it was before bundles were signed: an engine disconnects
 * from one whose transaction is larger than its own limit.
 */
export const BUNDLE_BYTES_MAX = ENTRY_BYTES_MAX + LENGTH_BYTES_MAX
const SIGNED = 0x00
const KEY_END = 33
const SIGNATURE_END = 97
const HEADER_BYTES = 105
const TAG = 'quorumscan/bundle/1'

export type Bundle = {
  readonly entries: readonly Uint8Array[]
  /** The sender's; null: the bundle is not signed. */
  readonly signature: BundleSignature | null
}

export type BundleSignature = {
  /** The key of the sender's engine, as the bundle claims; hex. */
  readonly publicKey: string
  readonly signature: Uint8Array
  /** Micros; none of its entries can be ordered later. */
  readonly notAfter: Micros
  /** SHA-256 of the entries with their lengths. */
  readonly contentHash: Uint8Array
}

/** How many of these entries, from the first on, fit into one bundle. At least one, if the list is not empty. */
export function countThatFits(entries: readonly Uint8Array[]): number {
  let bytes = HEADER_BYTES
  const end = entries.slice(0, BUNDLE_ENTRIES_MAX).findIndex((entry) => {
    bytes += LENGTH_BYTES_MAX + entry.byteLength
    return bytes > BUNDLE_BYTES_MAX
  })
  return end < 0 ? Math.min(entries.length, BUNDLE_ENTRIES_MAX) : Math.max(1, end)
}

/** Unsigned if the signature would make it too large, as with the largest entry. */
export function signBundle(
  entries: readonly Uint8Array[],
  options: { readonly notAfter: Micros; readonly genesisHash: string; readonly key: KeyPair },
): Uint8Array {
  const { notAfter, genesisHash, key } = options
  const content = encodeBundle(entries)
  if (HEADER_BYTES + content.byteLength > BUNDLE_BYTES_MAX) return content
  const signature = key.sign(statementOf({ notAfter, contentHash: sha256(content) }, genesisHash))
  const head = [Uint8Array.of(SIGNED), fromHex(key.publicKey), signature, u64(notAfter)]
  return concatBytes([...head, content])
}

export function isBundleSigned(signed: BundleSignature, genesisHash: string): boolean {
  const { publicKey, signature } = signed
  return verifySignature({ publicKey, signature, message: statementOf(signed, genesisHash) })
}

function statementOf(
  { notAfter, contentHash }: Pick<BundleSignature, 'notAfter' | 'contentHash'>,
  genesisHash: string,
): Uint8Array {
  return concatBytes([utf8(`${TAG}\0`), fromHex(genesisHash), u64(notAfter), contentHash])
}

/** Each after its length as a varint. */
export function encodeBundle(entries: readonly Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter()
  for (const entry of entries) writer.bytes(entry)
  return writer.finish()
}

/** Null: these bytes are not a bundle, which no correct member passes on. Does not verify the signature. */
export function decodeBundle(bytes: Uint8Array): Bundle | null {
  if (bytes[0] !== SIGNED) {
    const entries = decodeEntries(bytes)
    return entries === null ? null : { entries, signature: null }
  }
  if (bytes.byteLength <= HEADER_BYTES) return null
  const content = bytes.subarray(HEADER_BYTES)
  const entries = decodeEntries(content)
  if (entries === null) return null
  return {
    entries,
    signature: {
      publicKey: toHex(bytes.subarray(1, KEY_END)),
      signature: bytes.subarray(KEY_END, SIGNATURE_END),
      notAfter: Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(SIGNATURE_END)),
      contentHash: sha256(content),
    },
  }
}

function decodeEntries(bytes: Uint8Array): readonly Uint8Array[] | null {
  const reader = new BinaryReader(bytes)
  const entries: Uint8Array[] = []
  try {
    while (reader.pos < reader.len) {
      if (entries.length === BUNDLE_ENTRIES_MAX) return null
      entries.push(reader.bytes())
    }
  } catch {
    return null // A length that goes beyond the end.
  }
  return entries.length === 0 ? null : entries
}
