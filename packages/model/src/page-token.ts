/**
 * Page tokens (D-11): a function of what is listed, the last name and the offset alone, so that every
 * node gives the same one, any node continues a walk that another began, and the scan proxy can tell a
 * token from what is none without asking anybody.
 */
import { bytesEqual, concatBytes, fromHex, fromUtf8, sha256, utf8 } from '@quorumscan/base'
import { isOffset, type Offset } from './offset.ts'

/** What a walk goes over. */
export type PageSubject =
  | { readonly kind: 'prefix'; readonly prefix: string }
  | { readonly kind: 'party'; readonly party: string }

export type PagePosition = {
  /** The walk goes on behind this name, */
  readonly after: string
  /** at this offset. */
  readonly offset: Offset
}

const OFFSET_BYTES = 8
/** Not secret: it ties a token to its network and its list, and refuses what was mistyped or made up. */
const CHECKSUM_BYTES = 16

/** base64url of u64 offset ‖ last name ‖ checksum. */
export function formatPageToken(
  genesisHash: string,
  subject: PageSubject,
  position: PagePosition,
): string {
  const offset = new Uint8Array(OFFSET_BYTES)
  new DataView(offset.buffer).setBigUint64(0, BigInt(position.offset))
  const content = concatBytes([offset, utf8(position.after)])
  const bytes = concatBytes([content, checksum(genesisHash, subject, content)])
  return Buffer.from(bytes).toString('base64url')
}

/** @returns undefined unless it is exactly what `formatPageToken` gives for this list. */
export function parsePageToken(
  genesisHash: string,
  subject: PageSubject,
  token: string,
): PagePosition | undefined {
  const bytes = new Uint8Array(Buffer.from(token, 'base64url'))
  const contentLength = bytes.byteLength - CHECKSUM_BYTES
  // Buffer skips what is no base64url; only the canonical spelling comes back as it was.
  if (contentLength < OFFSET_BYTES || Buffer.from(bytes).toString('base64url') !== token)
    return undefined
  const content = bytes.subarray(0, contentLength)
  if (!bytesEqual(bytes.subarray(contentLength), checksum(genesisHash, subject, content)))
    return undefined
  const offset = Number(new DataView(content.buffer, content.byteOffset).getBigUint64(0))
  const after = parseName(content.subarray(OFFSET_BYTES))
  if (after === undefined || !isOffset(offset)) return undefined
  if (subject.kind === 'prefix' && !after.startsWith(subject.prefix)) return undefined
  return { after, offset }
}

function checksum(genesisHash: string, subject: PageSubject, content: Uint8Array): Uint8Array {
  const listed = subject.kind === 'prefix' ? subject.prefix : subject.party
  // The digest of the list has a fixed width, so no two lists and contents read the same.
  return sha256(
    utf8('quorumscan/page/1\0'),
    fromHex(genesisHash),
    sha256(utf8(`${subject.kind}\0${listed}`)),
    content,
  ).subarray(0, CHECKSUM_BYTES)
}

function parseName(bytes: Uint8Array): string | undefined {
  try {
    return fromUtf8(bytes)
  } catch {
    // Not UTF-8: somebody computed a checksum over something that is no name.
    return undefined
  }
}
