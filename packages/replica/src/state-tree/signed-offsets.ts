/**
 * Offsets at which members sign the root of the state, and those at which they sign a snapshot. Both follow from the log
 * alone, so that all members sign at the same offsets.
 */
import type { LogPosition, Micros } from '@quorumscan/model'

/** The greatest distance in record time between two certifiable offsets while entries arrive. */
const CERTIFIABLE_MICROS = 200_000
/** The greatest distance in offsets. */
const CERTIFIABLE_OFFSETS = 1_024
/** The greatest distance in record time between two snapshots: an idle network replays it in moments. */
const SNAPSHOT_MICROS = 3_600_000_000
/** The greatest distance in offsets: some twenty seconds of replay. */
const SNAPSHOT_OFFSETS = 16_384

/**
 * Offset 0, each checkpoint, each multiple of `CERTIFIABLE_OFFSETS`, and each offset that is the first in its interval
 * of record time.
 *
 * @param previous - Record time of the offset before.
 */
export function isCertifiable(
  { offset, recordTime, isCheckpoint }: LogPosition & { readonly isCheckpoint: boolean },
  previous: Micros,
): boolean {
  return (
    isCheckpoint ||
    offset % CERTIFIABLE_OFFSETS === 0 ||
    isFirstOf(CERTIFIABLE_MICROS, recordTime, previous)
  )
}

/**
 * The first offset in each hour of record time, each multiple of `SNAPSHOT_OFFSETS`, and for a young network 1 024,
 * 2 048, 4 096 and 8 192. All of them are certifiable.
 *
 * @param previous - Record time of the offset before.
 */
export function isSnapshotOffset({ offset, recordTime }: LogPosition, previous: Micros): boolean {
  if (isFirstOf(SNAPSHOT_MICROS, recordTime, previous) || offset % SNAPSHOT_OFFSETS === 0)
    return true
  const isPowerOfTwo = (offset & (offset - 1)) === 0
  return isPowerOfTwo && offset >= CERTIFIABLE_OFFSETS && offset < SNAPSHOT_OFFSETS
}

function isFirstOf(intervalMicros: Micros, recordTime: Micros, previous: Micros): boolean {
  return Math.floor(recordTime / intervalMicros) !== Math.floor(previous / intervalMicros)
}
