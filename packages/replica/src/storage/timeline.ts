/**
 * Record time, history hash and count of ended versions for every offset from the horizon to the head:
 * the list `at`, held in memory as well, because every pinned read needs the record time of its offset.
 */
import { assert, concatBytes, fromHex, toHex } from '@quorumscan/base'
import type { Offset } from '@quorumscan/model'
import type { HistoryPoint } from '@quorumscan/verifier'

/** D-10: reads go back 10 minutes of record time … */
export const HORIZON_MICROS = 600_000_000
/** … or this many ended versions, whichever is less … */
export const HORIZON_ENDED_MAX = 200_000
/** … and never further than this many offsets (48 MiB of `at`), which 1 600 entries a second reach. */
export const HORIZON_OFFSETS_MAX = 1_000_000

/** `endedCount`: versions that ended at or before the offset. */
export type Instant = HistoryPoint & { readonly endedCount: number }

export const INSTANT_BYTES = 48

/** A member of `at`. Its offset is its position in the list. */
export function encodeInstant(instant: Instant): Uint8Array {
  const numbers = new DataView(new ArrayBuffer(16))
  numbers.setBigUint64(0, BigInt(instant.recordTime))
  numbers.setBigUint64(8, BigInt(instant.endedCount))
  return concatBytes([new Uint8Array(numbers.buffer), fromHex(instant.historyHash)])
}

export function decodeInstant(offset: Offset, bytes: Uint8Array): Instant {
  assert(bytes.byteLength === INSTANT_BYTES, 'a member of `at` has 48 bytes')
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, 16)
  return {
    offset,
    recordTime: Number(numbers.getBigUint64(0)),
    historyHash: toHex(bytes.subarray(16)),
    endedCount: Number(numbers.getBigUint64(8)),
  }
}

/** Starts empty; the first instant appended is the oldest. */
export function createTimeline() {
  // Packed, because a million instants as objects would take half a gigabyte.
  let records = new Uint8Array(64 * INSTANT_BYTES)
  let firstOffset = 0
  let start = 0
  let count = 0
  // Most reads are at the offset of the one before, and decoding costs more than looking up a name.
  let last: Instant | undefined

  const read = (offset: Offset): Instant | undefined => {
    const index = offset - firstOffset
    if (!Number.isInteger(index) || index < 0 || index >= count) return undefined
    if (last?.offset === offset) return last
    const position = (start + index) * INSTANT_BYTES
    last = decodeInstant(offset, records.subarray(position, position + INSTANT_BYTES))
    return last
  }

  const makeRoom = () => {
    if ((start + count + 1) * INSTANT_BYTES <= records.byteLength) return
    const live = records.subarray(start * INSTANT_BYTES, (start + count) * INSTANT_BYTES)
    const grown = new Uint8Array(Math.max(64, 2 * count) * INSTANT_BYTES)
    grown.set(live)
    records = grown
    start = 0
  }

  return {
    /** undefined outside of horizon and head. */
    at: read,
    first: () => firstOffset,
    append(instant: Instant): void {
      if (count === 0) firstOffset = instant.offset
      assert(instant.offset === firstOffset + count, 'instants are appended without gaps')
      makeRoom()
      records.set(encodeInstant(instant), (start + count) * INSTANT_BYTES)
      count++
    },
    /** Forgets what lies below the offset. */
    dropBelow(offset: Offset): void {
      const dropped = Math.min(Math.max(offset - firstOffset, 0), count)
      firstOffset += dropped
      start += dropped
      count -= dropped
    },
    /** The horizon that belongs to a head: a function of genesis and log alone, wherever batches were cut. */
    horizonAt(head: Instant): Offset {
      const isReadable = (instant: Instant) =>
        instant.recordTime >= head.recordTime - HORIZON_MICROS &&
        head.endedCount - instant.endedCount <= HORIZON_ENDED_MAX &&
        head.offset - instant.offset <= HORIZON_OFFSETS_MAX
      // Readable offsets are a suffix: all three conditions only turn true with rising offsets.
      let low = firstOffset
      let high = head.offset
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const instant = read(middle)
        assert(instant !== undefined, 'every offset up to the head has its instant')
        if (isReadable(instant)) high = middle
        else low = middle + 1
      }
      return low
    },
  }
}

export type Timeline = ReturnType<typeof createTimeline>
