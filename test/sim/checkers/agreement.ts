/**
 * Two strong answers at one offset never differ while at most f nodes lie, even if nodes received different logs
 * (D-36).
 */
import { isDecided } from '@quorumscan/reader'
import type { ReadRecord } from '../simulate.ts'
import type { Checker } from './checker.ts'

export const checkAgreement: Checker = (run) => {
  if (run.options.mode === 'beyond-f') return []
  const firstByOffset = new Map<number, ReadRecord>()
  return run.reads.flatMap((read) => {
    const { outcome } = read
    if (!isDecided(outcome) || read.options.threshold !== 'strong') return []
    const first = firstByOffset.get(outcome.offset)
    if (first === undefined) {
      firstByOffset.set(outcome.offset, read)
      return []
    }
    const isSame = isDecided(first.outcome) && first.outcome.historyHash === outcome.historyHash
    return isSame
      ? []
      : [{ rule: 'agreement', read, why: `another history at ${outcome.offset} than before` }]
  })
}
