/**
 * Members of `activities`, `notices` and `activityParties`. All continue an event id, whose order as text is that
 * of the log (D-25), so that a page is one range of bytes.
 */
import {
  assert,
  ByteReader,
  ByteWriter,
  bufferOf,
  concatBytes,
  sha256,
  utf8,
} from '@quorumscan/base'
import {
  type ActivityRow,
  formatEventId,
  HISTORY_STEPS,
  type HistoryStep,
  type NoticeRow,
} from '@quorumscan/ledger'
import type { Micros, Offset } from '@quorumscan/model'
import { hashActivity } from '@quorumscan/verifier/state-tree'
import { type Bounds, lexBound, TAG_BYTES, tagOf } from './intern.ts'

/** `<offset, 16 digits>:<index, 4 digits>`. */
const EVENT_ID_BYTES = 21
const OFFSET_DIGITS = 16
/** Ends an event id within a member: the smallest byte. */
const ID_END = '\u0000'
/** The next one: a bound above every member of an event id. */
const ID_AFTER = '\u0001'

export type StoredActivity = {
  readonly eventId: string
  /** Interned parties whose history the row belongs to. */
  readonly tags: readonly Uint8Array[]
  readonly step: HistoryStep
  readonly recordTime: Micros
  /** The index of its leaf in the activity tree, from 0; null: a notice, which has no leaf. */
  readonly index: number | null
  /** JSON, ready to be sent. */
  readonly body: Uint8Array
}

/** A row, or a notice, as it is stored. Its index in the activity tree is not known yet. */
export function storedRow(
  { activity, parties, step }: ActivityRow | NoticeRow,
  recordTime: Micros,
): StoredActivity {
  const body = utf8(JSON.stringify(activity))
  const tags = parties.map(tagOf)
  return { eventId: activity.event_id, tags, step, recordTime, index: null, body }
}

/** A row as the activity tree has it. */
export type TreeRow = StoredActivity & { readonly leafHash: Uint8Array }

export function treeRow(row: ActivityRow, recordTime: Micros): TreeRow {
  const stored = storedRow(row, recordTime)
  return { ...stored, leafHash: leafHashOf(stored) }
}

export function leafHashOf(row: StoredActivity): Uint8Array {
  return hashActivity({ ...row, rowHash: sha256(row.body) }, sha256)
}

/**
 * event id ‖ 0 ‖ record time ‖ index + 1, or 0 for none ‖ count of parties ‖ their tags ‖ step ‖ JSON. The tags are
 * what the clean-up needs.
 */
export function encodeActivity(row: StoredActivity): Uint8Array {
  const writer = new ByteWriter()
  writer.raw(utf8(row.eventId + ID_END))
  writer.unsigned(row.recordTime)
  writer.unsigned(row.index === null ? 0 : row.index + 1)
  writer.list(row.tags, (tag) => writer.raw(tag))
  writer.unsigned(HISTORY_STEPS.indexOf(row.step))
  writer.raw(row.body)
  return writer.finish()
}

export function decodeActivity(member: Uint8Array): StoredActivity {
  assert(member[EVENT_ID_BYTES] === 0, 'a zero byte ends the event id')
  const reader = new ByteReader(member, EVENT_ID_BYTES + 1)
  const recordTime = reader.unsigned()
  const indexPlusOne = reader.unsigned()
  const count = reader.unsigned()
  const tags = Array.from({ length: count }, () => reader.raw(TAG_BYTES))
  const step = HISTORY_STEPS[reader.unsigned()]
  assert(step !== undefined, 'a member is of a known step')
  const eventId = bufferOf(member).toString('latin1', 0, EVENT_ID_BYTES)
  const index = indexPlusOne === 0 ? null : indexPlusOne - 1
  return { eventId, tags, step, recordTime, index, body: reader.rest() }
}

/** The index of a row, which is not a notice. */
export function treeIndexOf({ index }: StoredActivity): number {
  assert(index !== null, 'a row of the history has its index in the tree')
  return index
}

/** A member of `activityParties`: party tag ‖ event id. */
export function activityPartyMember(tag: Uint8Array, eventId: string): Uint8Array {
  return concatBytes([tag, utf8(eventId)])
}

export function eventIdOfPartyMember(member: Uint8Array): string {
  return bufferOf(member).toString('latin1', TAG_BYTES)
}

/** A member of `activityTimes`: the offset as event ids have it. */
export function offsetTextOf(eventId: string): string {
  return eventId.slice(0, OFFSET_DIGITS)
}

export function offsetText(offset: Offset): string {
  return offsetTextOf(formatEventId(offset, 0))
}

/** Rows of the offsets from `first` to `last`, both included. `prefix` is a party's tag, or empty. */
export function boundsOfOffsets(
  prefix: Uint8Array,
  range: { readonly first: string; readonly last: Offset },
): Bounds {
  return {
    min: lexBound('[', concatBytes([prefix, utf8(range.first)])),
    max: lexBound('(', concatBytes([prefix, utf8(offsetText(range.last + 1))])),
  }
}

/** The lower bound after an event id. */
export function boundAfter(prefix: Uint8Array, eventId: string): Uint8Array {
  return lexBound('(', concatBytes([prefix, utf8(eventId + ID_AFTER)]))
}

/** The upper bound before an event id. */
export function boundBefore(prefix: Uint8Array, eventId: string): Uint8Array {
  return lexBound('(', concatBytes([prefix, utf8(eventId)]))
}

/** Bounds around the one row of an event id. */
export function boundsOfRow(eventId: string): Bounds {
  return {
    min: lexBound('[', utf8(eventId + ID_END)),
    max: lexBound('(', utf8(eventId + ID_AFTER)),
  }
}
