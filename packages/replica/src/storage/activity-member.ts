/**
 * Members of `activities`, `notices` and `activityParties`. All continue an event id, whose order as text is that
 * of the log (D-25), so that a page is one range of bytes.
 */
import { assert, ByteReader, ByteWriter, concatBytes, utf8 } from '@quorumscan/base'
import {
  type ActivityRow,
  formatEventId,
  HISTORY_STEPS,
  type HistoryStep,
  type NoticeRow,
} from '@quorumscan/ledger'
import type { Offset } from '@quorumscan/model'
import { lexBound, TAG_BYTES, tagOf } from './intern.ts'

/** `<offset, 16 digits>:<index, 4 digits>`. */
const EVENT_ID_BYTES = 21
/** Ends an event id within a member: the smallest byte. */
const ID_END = '\u0000'
/** The next one: a bound above every member of an event id. */
const ID_BEHIND = '\u0001'

export type StoredActivity = {
  readonly eventId: string
  /** Interned parties whose history the row belongs to. */
  readonly tags: readonly Uint8Array[]
  readonly step: HistoryStep
  /** JSON, ready to be sent. */
  readonly body: Uint8Array
}

/** event id ‖ 0 ‖ count of parties ‖ their tags ‖ step ‖ JSON. The tags are what the clean-up needs. */
export function encodeActivity(row: ActivityRow | NoticeRow): Uint8Array {
  const writer = new ByteWriter()
  writer.raw(utf8(row.activity.event_id + ID_END))
  writer.list(row.parties, (party) => writer.raw(tagOf(party)))
  writer.unsigned(HISTORY_STEPS.indexOf(row.step))
  writer.raw(utf8(JSON.stringify(row.activity)))
  return writer.finish()
}

export function decodeActivity(member: Uint8Array): StoredActivity {
  assert(member[EVENT_ID_BYTES] === 0, 'a zero byte ends the event id')
  const reader = new ByteReader(member, EVENT_ID_BYTES + 1)
  const count = reader.unsigned()
  const tags = Array.from({ length: count }, () => reader.raw(TAG_BYTES))
  const step = HISTORY_STEPS[reader.unsigned()]
  assert(step !== undefined, 'a member is of a known step')
  return { eventId: textOf(member.subarray(0, EVENT_ID_BYTES)), tags, step, body: reader.rest() }
}

/** A member of `activityParties`: party tag ‖ event id. */
export function activityPartyMember(tag: Uint8Array, eventId: string): Uint8Array {
  return concatBytes([tag, utf8(eventId)])
}

export function eventIdOfPartyMember(member: Uint8Array): string {
  return textOf(member.subarray(TAG_BYTES))
}

/** A member of `activityTimes`: the offset as it stands in event ids. */
export function offsetText(offset: Offset): string {
  return formatEventId(offset, 0).slice(0, 16)
}

/** Bounds of `ZRANGE … BYLEX`; `prefix` is a party's tag, or nothing. */
export type ActivityBounds = { readonly min: Uint8Array; readonly max: Uint8Array }

/** Rows of the offsets from `first` to `last`, both included. */
export function boundsOfOffsets(
  prefix: Uint8Array,
  range: { readonly first: string; readonly last: Offset },
): ActivityBounds {
  return {
    min: lexBound('[', concatBytes([prefix, utf8(range.first)])),
    max: lexBound('(', concatBytes([prefix, utf8(offsetText(range.last + 1))])),
  }
}

/** The lower bound behind an event id. */
export function behind(prefix: Uint8Array, eventId: string): Uint8Array {
  return lexBound('(', concatBytes([prefix, utf8(eventId + ID_BEHIND)]))
}

/** The upper bound before an event id. */
export function before(prefix: Uint8Array, eventId: string): Uint8Array {
  return lexBound('(', concatBytes([prefix, utf8(eventId)]))
}

/** Bounds around the one row of an event id. */
export function boundsOfRow(eventId: string): ActivityBounds {
  return {
    min: lexBound('[', utf8(eventId + ID_END)),
    max: lexBound('(', utf8(eventId + ID_BEHIND)),
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}
