/** A verified answer meets the maximum age and the minimum offset of the caller (D-39). */
import { isDecided } from '@quorumscan/reader'
import type { Checker } from './checker.ts'

export const checkFreshness: Checker = (run) =>
  run.reads.flatMap((read) => {
    const { outcome, options } = read
    if (!isDecided(outcome)) return []
    const ageMs = (read.endMicros - outcome.recordTime) / 1000
    const { maxAgeMs = 60_000, minOffset = 0 } = options
    if (ageMs > maxAgeMs)
      return [{ rule: 'freshness', read, why: `${ageMs} ms old, ${maxAgeMs} allowed` }]
    return outcome.offset < minOffset
      ? [{ rule: 'freshness', read, why: `offset ${outcome.offset} below ${minOffset}` }]
      : []
  })
