/**
 * The offers by which nodes list their snapshots. Each member signs a statement for a snapshot: the point in the history,
 * and the SHA-256 of the manifest, which is u64 length of the content ‖ SHA-256 of each piece of it. So a process that
 * has the signatures of f + 1 members can verify each piece, whichever node sends it.
 */
import { concatBytes, fromHex, sha256Hex, toHex, u64, verifySignature } from '@quorumscan/base'
import {
  encodeSnapshotStatement,
  type Genesis,
  type HistoryPoint,
  memberOf,
  memberSetOf,
  membersOf,
} from '@quorumscan/verifier'

/** Each side holds one piece in memory. A piece is served by one read of the file. */
export const PIECE_BYTES = 1024 * 1024
/** 64 GiB: some ten million names. */
const PIECES_MAX = 65_536
const LENGTH_BYTES = 8
const HASH_BYTES = 32
export const MANIFEST_BYTES_MAX = LENGTH_BYTES + PIECES_MAX * HASH_BYTES
/** A node lists the newest two, and the newest that enough members have signed. */
const OFFERS_MAX = 3
const HASH = /^[0-9a-f]{64}$/
const HASHES = /[0-9a-f]{64}/g
const SIGNATURE = /^[0-9a-f]{128}$/

export type SnapshotOffer = HistoryPoint & {
  /** SHA-256 of the manifest, hex. */
  readonly contentHash: string
  /** Name of the member -> its signature, hex. */
  readonly signatures: ReadonlyMap<string, string>
}

export type Manifest = {
  readonly contentBytes: number
  /** Hex. */
  readonly pieceHashes: readonly string[]
}

export type Network = { readonly genesis: Genesis; readonly genesisHash: string }

/** Offers with the same key have the same content. */
export function keyOfOffer(offer: SnapshotOffer): string {
  return `${offer.offset} ${offer.recordTime} ${offer.historyHash} ${offer.contentHash}`
}

export function statementOf(offer: Omit<SnapshotOffer, 'signatures'>, { genesisHash }: Network) {
  return encodeSnapshotStatement({ ...offer, genesisHash })
}

/** Whether an honest member is among the signers. */
export function isConfirmed({ signatures }: SnapshotOffer, { genesis }: Network): boolean {
  return signatures.size > memberSetOf(genesis).f
}

/** The form in `GET /v0/snapshots`. */
export function toWireOffer(offer: SnapshotOffer) {
  return {
    offset: offer.offset,
    record_time: offer.recordTime,
    history_hash: offer.historyHash,
    content_hash: offer.contentHash,
    signatures: [...offer.signatures].map(([name, signature]) => ({ name, signature })),
  }
}

/**
 * The offers that a node lists, without invalid signatures and malformed offers; null: the body is no list.
 *
 * @throws {SyntaxError} If it is not JSON.
 */
export function readOffers(body: Uint8Array, network: Network): readonly SnapshotOffer[] | null {
  const { snapshots } = membersOf(JSON.parse(Buffer.from(body).toString('utf8')))
  if (!Array.isArray(snapshots)) return null
  return snapshots.slice(0, OFFERS_MAX).flatMap((one) => readOffer(one, network) ?? [])
}

function readOffer(listed: unknown, network: Network): SnapshotOffer | null {
  const { offset, record_time, history_hash, content_hash, signatures } = membersOf(listed)
  if (!isCount(offset) || !isCount(record_time)) return null
  if (!isHash(history_hash) || !isHash(content_hash) || !Array.isArray(signatures)) return null
  const point = { offset, recordTime: record_time, historyHash: history_hash }
  const message = statementOf({ ...point, contentHash: content_hash }, network)
  const claimed = new Map<unknown, unknown>(
    signatures.map((one) => [memberOf(one, 'name'), memberOf(one, 'signature')]),
  )
  const valid = memberSetOf(network.genesis).members.flatMap(({ name, scanKey }) => {
    const signature: unknown = claimed.get(name)
    if (typeof signature !== 'string' || !SIGNATURE.test(signature)) return []
    const signed = { publicKey: scanKey, message, signature: fromHex(signature) }
    return verifySignature(signed) ? [[name, signature] as const] : []
  })
  return { ...point, contentHash: content_hash, signatures: new Map(valid) }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && HASH.test(value)
}

export function encodeManifest({ contentBytes, pieceHashes }: Manifest): Uint8Array {
  return concatBytes([u64(contentBytes), ...pieceHashes.map(fromHex)])
}

export function hashOfManifest(manifest: Manifest): string {
  return sha256Hex(encodeManifest(manifest))
}

/** Null unless the bytes have this hash. */
export function readManifest(bytes: Uint8Array, contentHash: string): Manifest | null {
  if (sha256Hex(bytes) !== contentHash || bytes.byteLength < LENGTH_BYTES) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const contentBytes = Number(view.getBigUint64(0))
  const hashes = bytes.subarray(LENGTH_BYTES)
  const count = Math.ceil(contentBytes / PIECE_BYTES)
  if (hashes.byteLength !== count * HASH_BYTES || count > PIECES_MAX) return null
  return { contentBytes, pieceHashes: toHex(hashes).match(HASHES) ?? [] }
}
