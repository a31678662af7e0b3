/**
 * With at most f nodes lying and the threshold's worth of honest nodes up, an answer arrives, and
 * arrives soon: nodes that are dead, hung, slow or lying cost nothing but their votes.
 */
import { isDecided } from '@quorumscan/reader'
import type { ReadRecord } from '../simulate.ts'
import type { Checker } from './checker.ts'

/** A node waits 250 ms for an offset; a first read learns addresses and heads first. */
const ANSWER_MS_MAX = 400

/** With that much time everything can be asked of the slowest that answer: addresses, heads, votes, twice. */
const PATIENT_MS = 10_000

/** Slow is not dead: who waits long enough gets an answer from nodes that answer in their time. */
function isImpatient(read: ReadRecord): boolean {
  const isPatient = read.waitMs >= PATIENT_MS && read.answeringCount >= read.votesNeeded
  return isPatient && read.outcome.kind === 'insufficient'
}

export const checkAvailability: Checker = (run) => {
  if (run.options.mode !== 'budget') return []
  return run.reads.flatMap((read) => {
    if (isImpatient(read)) {
      const why = `insufficient after ${read.endMs - read.startMs} ms with ${read.answeringCount} nodes that answer`
      return [{ rule: 'patience', read, why }]
    }
    if (read.steadyCount < read.votesNeeded) return []
    const tookMs = read.endMs - read.startMs - read.stalledMs
    if (!isDecided(read.outcome)) {
      // The log itself may be older than asked; then that is the answer.
      if (read.outcome.kind === 'lagging' && read.outcome.reason === 'stale') return []
      const why = `${read.outcome.kind} with ${read.steadyCount} nodes up, ${read.votesNeeded} needed`
      return [{ rule: 'availability', read, why }]
    }
    return tookMs > ANSWER_MS_MAX ? [{ rule: 'availability', read, why: `took ${tookMs} ms` }] : []
  })
}
