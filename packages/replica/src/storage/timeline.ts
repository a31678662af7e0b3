/**
 * Record time, history hash and count of ended versions for every offset from the horizon to the head:
 * the list `at`, held in memory as well, because every pinned read needs the record time of its offset.
 */
import { assert, concatBytes, fromHex, toHex, u64 } from '@quorumscan/base'
import type { Offset } from '@quorumscan/model'
import type { HistoryPoint } from '@quorumscan/verifier'

/** D-10: reads go back 10 minutes of record time at most. */
export const HORIZON_MICROS = 600_000_000
/** Reads go back this number of ended versions at most. */
const HORIZON_ENDED_MAX = 200_000
/** Reads go back this number of offsets at most (48 MiB of `at`), which 1 600 entries per second reach. */
const HORIZON_OFFSETS_MAX = 1_000_000

/** `endedCount`: versions that ended at or before the offset. */
export type TimelineEntry = HistoryPoint & { readonly endedCount: number }

export const TIMELINE_ENTRY_BYTES = 48

/** A member of `at`. Its offset is its position in the list. */
export function encodeTimelineEntry(entry: TimelineEntry): Uint8Array {
  return concatBytes([u64(entry.recordTime), u64(entry.endedCount), fromHex(entry.historyHash)])
}

export function decodeTimelineEntry(offset: Offset, bytes: Uint8Array): TimelineEntry {
  assert(bytes.byteLength === TIMELINE_ENTRY_BYTES, 'a member of `at` has 48 bytes')
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, 16)
  const recordTime = Number(numbers.getBigUint64(0))
  const endedCount = Number(numbers.getBigUint64(8))
  return { offset, recordTime, historyHash: toHex(bytes.subarray(16)), endedCount }
}

/** The timeline is empty at first. The first entry that is appended is the oldest. */
export function createTimeline() {
  // Packed, because a million entries as objects would take half a gigabyte.
  let records = new Uint8Array(64 * TIMELINE_ENTRY_BYTES)
  let firstOffset = 0
  let start = 0
  let count = 0
  // Most reads are at the offset of the one before, and decoding costs more than looking up a name.
  let last: TimelineEntry | undefined

  const read = (offset: Offset): TimelineEntry | undefined => {
    const index = offset - firstOffset
    if (!Number.isInteger(index) || index < 0 || index >= count) return undefined
    if (last?.offset === offset) return last
    const position = (start + index) * TIMELINE_ENTRY_BYTES
    last = decodeTimelineEntry(offset, records.subarray(position, position + TIMELINE_ENTRY_BYTES))
    return last
  }

  const makeRoom = () => {
    if ((start + count + 1) * TIMELINE_ENTRY_BYTES <= records.byteLength) return
    const live = records.subarray(
      start * TIMELINE_ENTRY_BYTES,
      (start + count) * TIMELINE_ENTRY_BYTES,
    )
    const grown = new Uint8Array(Math.max(64, 2 * count) * TIMELINE_ENTRY_BYTES)
    grown.set(live)
    records = grown
    start = 0
  }

  return {
    /** undefined outside of horizon and head. */
    at: read,
    first: () => firstOffset,
    append(entry: TimelineEntry): void {
      if (count === 0) firstOffset = entry.offset
      assert(entry.offset === firstOffset + count, 'entries are appended without gaps')
      makeRoom()
      records.set(encodeTimelineEntry(entry), (start + count) * TIMELINE_ENTRY_BYTES)
      count++
    },
    /** Drops the entries below the offset. */
    dropBelow(offset: Offset): void {
      const dropped = Math.min(Math.max(offset - firstOffset, 0), count)
      firstOffset += dropped
      start += dropped
      count -= dropped
    },
    /** The horizon that belongs to a head: a function of genesis and log alone, wherever batches were cut. */
    horizonAt(head: TimelineEntry): Offset {
      const isReadable = (entry: TimelineEntry) =>
        entry.recordTime >= head.recordTime - HORIZON_MICROS &&
        head.endedCount - entry.endedCount <= HORIZON_ENDED_MAX &&
        head.offset - entry.offset <= HORIZON_OFFSETS_MAX
      // Readable offsets are a suffix: all three conditions only turn true with rising offsets.
      let low = firstOffset
      let high = head.offset
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const entry = read(middle)
        assert(entry !== undefined, 'every offset up to the head has its timeline entry')
        if (isReadable(entry)) high = middle
        else low = middle + 1
      }
      return low
    },
  }
}

export type Timeline = ReturnType<typeof createTimeline>
