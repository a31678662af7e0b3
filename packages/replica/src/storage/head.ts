/**
 * The head of a stored replica. Its bytes are the fence of every write (Rule 3): they hold offset and history
 * hash, and every write changes them.
 */
import { concatBytes, fromHex, toHex } from '@quorumscan/base'
import type { Head } from '@quorumscan/ledger'
import type { Offset } from '@quorumscan/model'

export type StoredHead = Head & {
  /** Hash of the genesis, hex. */
  readonly genesisHash: string
  /** Hash of the jobs whose due work is stored (`layout.ts`), hex. */
  readonly dueHash: string
  /** The oldest offset that can be read (D-10). */
  readonly horizon: Offset
  /** Versions that ended at or before `offset`. */
  readonly endedCount: number
  /** The number of them that the clean-up has deleted. */
  readonly cleanedCount: number
  /** Rows that were ever added to the activity history up to `offset`. */
  readonly activityCount: number
  readonly state: StateMark
}

/** The root of the state tree at the last certifiable offset: what a tree built from what is stored must have. */
export type StateMark = {
  readonly offset: Offset
  /** Hex. Null once the stored state was found to differ from the log, until the replica is wiped. */
  readonly root: string | null
  /** Rows that were ever added to the activity history up to that offset. */
  readonly activityCount: number
}

/** Increases with each change of the layout of any value. A replica of an older layout is rebuilt, one of a newer refused. */
const LAYOUT = 9
/** In the order in which they are stored; the root and three more numbers follow. */
const HASH_NAMES = ['genesisHash', 'historyHash', 'entryHash', 'dueHash'] as const
const NUMBER_NAMES = ['offset', 'recordTime', 'horizon', 'endedCount', 'cleanedCount'] as const
const HASHES = HASH_NAMES.length + 1
const NUMBERS_BYTES = 8 * (NUMBER_NAMES.length + 3)
const HEAD_BYTES = 1 + HASHES * 32 + NUMBERS_BYTES
/** Stored for a root that is null: the root of the empty tree, which no state has. */
const NO_ROOT = '0'.repeat(64)

/** Redis holds a replica that this process cannot use. The message says what to do. */
export class ReplicaStateError extends Error {
  override readonly name = 'ReplicaStateError'
  /** Whether an older release wrote it with another storage layout, so that it must be rebuilt. */
  readonly isOfOtherLayout: boolean

  constructor(message: string, options: { readonly isOfOtherLayout?: boolean } = {}) {
    super(message)
    this.isOfOtherLayout = options.isOfOtherLayout ?? false
  }
}

export function encodeHead(head: StoredHead): Uint8Array {
  const numbers = new DataView(new ArrayBuffer(NUMBERS_BYTES))
  const { state } = head
  const counts = [state.offset, head.activityCount, state.activityCount]
  const fields = [...NUMBER_NAMES.map((name) => head[name]), ...counts]
  for (const [index, value] of fields.entries()) numbers.setBigUint64(index * 8, BigInt(value))
  const hashes = [...HASH_NAMES.map((name) => head[name]), state.root ?? NO_ROOT].map(fromHex)
  return concatBytes([Uint8Array.of(LAYOUT), ...hashes, new Uint8Array(numbers.buffer)])
}

/** @throws {ReplicaStateError} If it has another layout. */
export function decodeHead(bytes: Uint8Array): StoredHead {
  const number = numbersOf(bytes)
  const hash = (index: number) => toHex(bytes.subarray(1 + index * 32, 33 + index * 32))
  const root = hash(4)
  const origin = { genesisHash: hash(0), dueHash: hash(3) }
  const history = { historyHash: hash(1), entryHash: hash(2) }
  const position = { offset: number(0), recordTime: number(1), horizon: number(2) }
  const counts = { endedCount: number(3), cleanedCount: number(4), activityCount: number(6) }
  const at = { offset: number(5), activityCount: number(7) }
  const state = { ...at, root: root === NO_ROOT ? null : root }
  return { ...origin, ...history, ...position, ...counts, state }
}

/** Decodes only what every read checks. @throws {ReplicaStateError} As `decodeHead`. */
export function decodeSpan(bytes: Uint8Array): Pick<StoredHead, 'offset' | 'horizon'> {
  const number = numbersOf(bytes)
  return { offset: number(0), horizon: number(2) }
}

function numbersOf(bytes: Uint8Array): (index: number) => number {
  if ((bytes[0] ?? 0) > LAYOUT)
    throw new ReplicaStateError(
      'The replica in Redis was written by a newer version of the software, and is not damaged. Nothing was changed: install that version again, or delete the replica with `quorumscan replica wipe`, so that this version rebuilds it.',
    )
  if (bytes.byteLength !== HEAD_BYTES || bytes[0] !== LAYOUT)
    throw new ReplicaStateError(
      'The replica in Redis has a layout that this version does not know, and is not damaged: install the version that wrote it, or wipe it, so that it is rebuilt from the log.',
      { isOfOtherLayout: true },
    )
  const numbers = new DataView(bytes.buffer, bytes.byteOffset + 1 + HASHES * 32, NUMBERS_BYTES)
  return (index) => Number(numbers.getBigUint64(index * 8))
}
