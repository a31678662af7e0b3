/** Limits log lines that clients or peers can cause without limit. */
import type { Clock } from '@quorumscan/base'
import { LRUCache } from 'lru-cache'

/** Subjects are nodes (at most 100), levels and kinds of alarm. Beyond it, the oldest are forgotten. */
const SUBJECTS_MAX = 256

/** The number of lines about a subject that were suppressed before. */
type Suppressed = { readonly suppressed?: number }

export type RateLimitedLog = ReturnType<typeof createRateLimitedLog>

/** @param options.perSubjectMs - The period; infinite for lines that are written once, until `forget`. */
export function createRateLimitedLog(options: {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly perSubjectMs: number
  /** Default: 1. */
  readonly linesMax?: number
}) {
  const { clock, perSubjectMs, linesMax = 1 } = options
  type Period = { startedMs: number; lineCount: number; suppressed: number }
  const periods = new LRUCache<string, Period>({ max: SUBJECTS_MAX })
  return {
    /** Writes the line, unless `linesMax` about its subject were written in this period. */
    write(subject: string, line: (suppressed: Suppressed) => void): void {
      const nowMs = clock.monotonicMs()
      const period = periods.get(subject) ?? { startedMs: nowMs, lineCount: 0, suppressed: 0 }
      periods.set(subject, period)
      if (nowMs - period.startedMs >= perSubjectMs) {
        period.startedMs = nowMs
        period.lineCount = 0
      }
      if (period.lineCount >= linesMax) {
        period.suppressed++
        return
      }
      const { suppressed } = period
      period.lineCount++
      period.suppressed = 0
      line(suppressed === 0 ? {} : { suppressed })
    },
    /** The next line about the subject is written, because its cause is over. Default: all subjects. */
    forget(subject?: string): void {
      if (subject === undefined) periods.clear()
      else periods.delete(subject)
    },
  }
}
