/**
 * While at most f nodes lie and enough honest nodes for the threshold are up, an answer arrives soon. Nodes that are
 * down, hung, slow or lying do not delay it.
 */
import { isDecided } from '@quorumscan/reader'
import type { ReadRecord } from '../simulate.ts'
import type { Checker } from './checker.ts'

/** A node waits 250 ms for an offset; a first read learns addresses and heads first. */
const ANSWER_MS_MAX = 400

/** Time for two rounds of requests (addresses, heads and votes) to the slowest nodes that answer. */
const PATIENT_MS = 10_000

/** A client that waits long enough must get an answer from slow nodes. */
function isImpatient(read: ReadRecord): boolean {
  const isPatient = read.waitMs >= PATIENT_MS && read.answeringCount >= read.votesNeeded
  return isPatient && read.outcome.kind === 'insufficient'
}

export const checkAvailability: Checker = (run) => {
  if (run.options.mode !== 'at-most-f') return []
  return run.reads.flatMap((read) => {
    if (isImpatient(read)) {
      const why = `insufficient after ${read.endMs - read.startMs} ms with ${read.answeringCount} nodes that answer`
      return [{ rule: 'wait', read, why }]
    }
    if (read.steadyCount < read.votesNeeded) return []
    const tookMs = read.endMs - read.startMs - read.stalledMs
    if (!isDecided(read.outcome)) {
      // The log itself may be older than the read accepts.
      if (read.outcome.kind === 'lagging' && read.outcome.reason === 'stale') return []
      const why = `${read.outcome.kind} with ${read.steadyCount} nodes up, ${read.votesNeeded} needed`
      return [{ rule: 'availability', read, why }]
    }
    return tookMs > ANSWER_MS_MAX ? [{ rule: 'availability', read, why: `took ${tookMs} ms` }] : []
  })
}
