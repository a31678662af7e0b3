/**
 * Page tokens (D-11): a function of the list, the last name and the offset. So every node returns the same token, any node
 * continues a walk that another node began, and a client that knows the genesis can recognise a token offline.
 */
import { fromBase64, toBase64 } from '../encoding/base64.ts'
import { concatBytes, fromHex, fromUtf8Lossily, u64, utf8 } from '../encoding/bytes.ts'
import type { Sha256 } from '../proof/tree-hash.ts'
import { canBeInKey } from './query.ts'

/** The list that a walk reads. */
export type PageSubject =
  | { readonly kind: 'prefix'; readonly prefix: string }
  | { readonly kind: 'party'; readonly party: string }

export type PagePosition = {
  /** The walk continues after this name. */
  readonly after: string
  /** The offset of all pages of the walk. */
  readonly offset: number
}

type OfNetwork = { readonly genesisHash: string; readonly sha256: Sha256 }

const OFFSET_BYTES = 8
/** Not secret. The checksum binds a token to its network and list, so that mistyped and invented tokens are refused. */
const CHECKSUM_BYTES = 16
// Bytes that are not UTF-8 decode to another text, and so to another token.

/** base64url of u64 offset ‖ last name ‖ checksum. */
export function formatPageToken(
  network: OfNetwork,
  subject: PageSubject,
  position: PagePosition,
): string {
  const content = concatBytes([u64(position.offset), utf8(position.after)])
  const token = toBase64(concatBytes([content, checksum(network, subject, content)]))
  return token.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** @returns undefined unless it is exactly what `formatPageToken` gives for this list. */
export function parsePageToken(
  network: OfNetwork,
  subject: PageSubject,
  token: string,
): PagePosition | undefined {
  const padding = '='.repeat((4 - (token.length % 4)) % 4)
  const bytes = fromBase64(token.replaceAll('-', '+').replaceAll('_', '/') + padding)
  if (bytes === undefined || bytes.length < OFFSET_BYTES + CHECKSUM_BYTES) return undefined
  const position = {
    after: fromUtf8Lossily(bytes.subarray(OFFSET_BYTES, -CHECKSUM_BYTES)),
    offset: Number(new DataView(bytes.buffer).getBigUint64(0)),
  }
  if (!Number.isSafeInteger(position.offset)) return undefined
  // A text that no key can hold is in no list, and its UTF-8 is ambiguous.
  if (![listedBy(subject), position.after].every(canBeInKey)) return undefined
  if (subject.kind === 'prefix' && !position.after.startsWith(subject.prefix)) return undefined
  return formatPageToken(network, subject, position) === token ? position : undefined
}

function listedBy(subject: PageSubject): string {
  return subject.kind === 'prefix' ? subject.prefix : subject.party
}

function checksum({ genesisHash, sha256 }: OfNetwork, subject: PageSubject, content: Uint8Array) {
  // The digest of the list has a fixed width, so no two lists and contents read the same.
  const list = sha256(utf8(`${subject.kind}\0${listedBy(subject)}`))
  const bytes = concatBytes([utf8('quorumscan/page/1\0'), fromHex(genesisHash), list, content])
  return sha256(bytes).subarray(0, CHECKSUM_BYTES)
}
