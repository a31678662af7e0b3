/** Offsets at which nodes take a snapshot: a function of the log, so that all sign the same ones. */
import type { Micros, Offset } from '@quorumscan/model'

/** Record time between two of them at most: what an idle network replays in moments. */
const INTERVAL_MICROS = 3_600_000_000
/** Offsets between two of them at most: some twenty seconds of replay. */
const INTERVAL_OFFSETS = 16_384
/** The first ones of a young network: each 2^k-th of these until the interval is reached. */
const FIRST_OFFSETS = 1_024

/**
 * The first offset in each hour of record time, each that `INTERVAL_OFFSETS` divides, and 1 024, 2 048, 4 096 and
 * 8 192. All of them are certifiable (`certifiable.ts`).
 *
 * @param previous - Record time of the offset before.
 */
export function isSnapshotOffset(
  entry: { readonly offset: Offset; readonly recordTime: Micros },
  previous: Micros,
): boolean {
  const { offset, recordTime } = entry
  if (hourOf(recordTime) !== hourOf(previous)) return true
  if (offset % INTERVAL_OFFSETS === 0) return true
  return offset % FIRST_OFFSETS === 0 && offset < INTERVAL_OFFSETS && isPowerOfTwo(offset)
}

function hourOf(recordTime: Micros): number {
  return Math.floor(recordTime / INTERVAL_MICROS)
}

function isPowerOfTwo(offset: number): boolean {
  return (offset & (offset - 1)) === 0
}
