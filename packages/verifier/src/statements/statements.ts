/**
 * The bytes that are signed (D-41): a tag that ends in a zero byte, the genesis hash, then fields of
 * fixed width, integers big-endian. No statement of one kind can be read as one of another, and none
 * contains a wall clock. STATEMENTS.md has the layouts.
 */
import { concatBytes, fromHex, u64, utf8 } from '../encoding/bytes.ts'

/** Fields named `...Hash` are SHA-256 in lower-case hex, here and in all statements. */
type OfGenesis = { readonly genesisHash: string }

/** An offset of the log with its record time, in µs since the epoch, and its history hash. */
export type HistoryPoint = {
  readonly offset: number
  readonly recordTime: number
  readonly historyHash: string
}

type AddressStatement = OfGenesis & {
  readonly name: string
  readonly url: string
  readonly sequence: number
}
type SubmissionStatement = OfGenesis & { readonly bodyHash: string }
type LogGroupStatement = OfGenesis & {
  readonly firstOffset: number
  readonly lastOffset: number
  /** The hash of the previous group; the genesis hash for the first one. */
  readonly previousHash: string
  /** The hash of the offsets, record times and bytes that the driver commits together. */
  readonly contentHash: string
}
/** A history point with the root of the state tree. */
export type StatePoint = HistoryPoint & { readonly stateRoot: string }
type StateStatement = OfGenesis & StatePoint
type SnapshotStatement = OfGenesis & HistoryPoint & { readonly contentHash: string }

// One constant each, so that a page that encodes one statement does not carry the tags of all.
const ADDRESS = 'quorumscan/address/1'
const SUBMISSION = 'quorumscan/submission/1'
const STATE = 'quorumscan/state/1'
const LOG_GROUP = 'quorumscan/log-group/1'
const SNAPSHOT = 'quorumscan/snapshot/1'

export const STATEMENT_TAGS = {
  address: ADDRESS,
  submission: SUBMISSION,
  state: STATE,
  logGroup: LOG_GROUP,
  snapshot: SNAPSHOT,
} as const

/** tag ‖ genesis ‖ u64 sequence ‖ u16 length ‖ name ‖ u16 length ‖ url (D-34). */
export function encodeAddressStatement(statement: AddressStatement): Uint8Array<ArrayBuffer> {
  return encode(ADDRESS, statement, [
    u64(statement.sequence),
    ...shortText(statement.name),
    ...shortText(statement.url),
  ])
}

/** tag ‖ genesis ‖ SHA-256 of the submission's body. */
export function encodeSubmissionStatement(statement: SubmissionStatement): Uint8Array<ArrayBuffer> {
  return encode(SUBMISSION, statement, [hash(statement.bodyHash)])
}

/** tag ‖ genesis ‖ u64 offset ‖ u64 record time ‖ history hash ‖ state root. */
export function encodeStateStatement(statement: StateStatement): Uint8Array<ArrayBuffer> {
  return encode(STATE, statement, [...historyPoint(statement), hash(statement.stateRoot)])
}

/** tag ‖ genesis ‖ u64 first offset ‖ u64 last offset ‖ previous group's hash ‖ content hash. */
export function encodeLogGroupStatement(statement: LogGroupStatement): Uint8Array<ArrayBuffer> {
  return encode(LOG_GROUP, statement, [
    u64(statement.firstOffset),
    u64(statement.lastOffset),
    hash(statement.previousHash),
    hash(statement.contentHash),
  ])
}

/** tag ‖ genesis ‖ u64 offset ‖ u64 record time ‖ history hash ‖ content hash. */
export function encodeSnapshotStatement(statement: SnapshotStatement): Uint8Array<ArrayBuffer> {
  return encode(SNAPSHOT, statement, [...historyPoint(statement), hash(statement.contentHash)])
}

function encode(tag: string, statement: OfGenesis, fields: readonly Uint8Array[]) {
  return concatBytes([utf8(`${tag}\0`), hash(statement.genesisHash), ...fields])
}

function historyPoint(point: HistoryPoint): Uint8Array[] {
  return [u64(point.offset), u64(point.recordTime), hash(point.historyHash)]
}

function hash(hex: string): Uint8Array {
  if (hex.length !== 64) throw new RangeError('not a hash')
  return fromHex(hex)
}

function shortText(text: string): Uint8Array[] {
  const bytes = utf8(text)
  if (bytes.byteLength > 0xffff) throw new RangeError('too long')
  return [Uint8Array.of(bytes.byteLength >> 8, bytes.byteLength & 0xff), bytes]
}
