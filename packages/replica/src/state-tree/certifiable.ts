/** Offsets at which nodes sign the root of the state: a function of the log, so that all sign the same ones. */
import type { Micros, Offset } from '@quorumscan/model'

/** Record time between two of them at most, where entries come … */
const INTERVAL_MICROS = 200_000
/** … and offsets between two of them at most. */
const INTERVAL_OFFSETS = 1_024

/**
 * Offset 0, each checkpoint, each offset that `INTERVAL_OFFSETS` divides, and each that is the first in its
 * interval of record time.
 *
 * @param previous - Record time of the offset before.
 */
export function isCertifiable(
  entry: {
    readonly offset: Offset
    readonly recordTime: Micros
    readonly isCheckpoint: boolean
  },
  previous: Micros,
): boolean {
  const { offset, recordTime, isCheckpoint } = entry
  return (
    isCheckpoint ||
    offset % INTERVAL_OFFSETS === 0 ||
    intervalOf(recordTime) !== intervalOf(previous)
  )
}

function intervalOf(recordTime: Micros): number {
  return Math.floor(recordTime / INTERVAL_MICROS)
}
