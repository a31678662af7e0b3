/** A verified answer or absence equals the content of the log at that offset, byte for byte. */
import { isDecided } from '@quorumscan/reader'
import { simAnswer } from '@quorumscan/testkit'
import type { ReadRecord, SimRun } from '../simulate.ts'
import type { Checker, Violation } from './checker.ts'

export const checkTruth: Checker = (run) =>
  run.reads.flatMap((read) => {
    // With more than f liars, only strong reads are guaranteed (D-36).
    if (run.options.mode === 'beyond-f' && read.votesNeeded < strongVotes(run)) return []
    const why = whyUntrue(run, read)
    return why === null ? [] : [{ rule: 'truth', read, why } satisfies Violation]
  })

function strongVotes(run: SimRun): number {
  const faultyMax = Math.floor((run.nodeCount - 1) / 3)
  return Math.ceil((run.nodeCount + faultyMax + 1) / 2)
}

function whyUntrue(run: SimRun, read: ReadRecord): string | null {
  const { outcome } = read
  if (!isDecided(outcome)) return null
  // After a split of the log there are two histories; a weak read may find either.
  const log = run.logs.find(
    (one) =>
      outcome.offset <= one.head() &&
      one.pointAt(outcome.offset).historyHash === outcome.historyHash,
  )
  if (log === undefined) return `no log has history ${outcome.historyHash} at ${outcome.offset}`
  if (log.pointAt(outcome.offset).recordTime !== outcome.recordTime)
    return `the record time at ${outcome.offset} is not ${outcome.recordTime}`
  const truth = log.find(read.lookup, outcome.offset)
  const answer = new TextDecoder().decode(outcome.answer)
  if (answer !== simAnswer(truth)) return `${answer} instead of ${simAnswer(truth)}`
  const isAbsent = outcome.kind === 'verified-absent' || outcome.kind === 'trusted-absent'
  return isAbsent === (truth === null)
    ? null
    : `${outcome.kind}, but the log has ${simAnswer(truth)}`
}
