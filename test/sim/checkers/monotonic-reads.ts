/** Reads of one client are monotonic: a read that starts after another has ended is at the same or a later offset. */
import { isDecided } from '@quorumscan/reader'
import type { ReadRecord } from '../simulate.ts'
import type { Checker, Violation } from './checker.ts'

export const checkMonotonicReads: Checker = (run) => {
  const violations: Violation[] = []
  const clients = new Set(run.reads.map(({ client }) => client))
  for (const client of clients) {
    const reads = run.reads.filter((read) => read.client === client)
    const ended = [...reads].sort((a, b) => a.endMs - b.endMs)
    let highest = -1
    let position = 0
    for (const read of [...reads].sort((a, b) => a.startMs - b.startMs)) {
      for (; position < ended.length; position++) {
        const earlier = ended[position] as ReadRecord
        if (earlier.endMs >= read.startMs) break
        if (isDecided(earlier.outcome)) highest = Math.max(highest, earlier.outcome.offset)
      }
      if (isDecided(read.outcome) && read.outcome.offset < highest)
        violations.push({
          rule: 'monotonic-reads',
          read,
          why: `offset ${read.outcome.offset} after ${highest}`,
        })
    }
  }
  return violations
}
