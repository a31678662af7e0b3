/** Outcomes of a read, and their errors. */
import { type QuorumscanError, transient } from '../errors.ts'
import type { KnownError } from '../known-errors.ts'
import type { Shown } from '../names/shown.ts'
import type { SpliceInsufficient, SpliceParticipation, SpliceUndecided } from './splice-answers.ts'

/**
 * Enough super-validators gave the same answer in this call; `value` is null if they answered that it does not exist.
 * `recordTime` is null: the answers have none.
 */
export type SpliceAnswer<T> = SpliceParticipation &
  Extract<Shown<T>, { readonly kind: 'proven' }> & {
    readonly agreed: readonly string[]
    /** Super-validators with another answer at the time of the decision. */
    readonly dissented: readonly string[]
  }

/** No answer. `error.details.outcome` has the answers of the super-validators. */
export type SpliceFailure = Extract<Shown<never>, { readonly kind: 'failed' }>

/**
 * All outcomes of a read, in the vocabulary of `Shown`. Only `proven` is an answer to act on; `basis` is `votes` or `trusted`.
 *
 * It is not proven that the answer is the newest: f liars and one lagging honest node can agree on an older one, while
 * `2f+1` needs f + 1 honest nodes. Nor are the names of super-validators if the seeds lied about them.
 * Answers are not signed, so they prove nothing to others. Only TLS authenticates the scans.
 */
export type SpliceOutcome<T> = SpliceAnswer<T> | SpliceFailure

/** The outcome of a read without an answer. */
export function spliceFailure<T>(
  what: string,
  outcome: SpliceUndecided<T> | SpliceInsufficient,
): SpliceFailure {
  // The code of an error of the SDK decides on its details.
  return { kind: 'failed', error: errorOf(what, outcome) as KnownError }
}

function errorOf<T>(
  what: string,
  outcome: SpliceUndecided<T> | SpliceInsufficient,
): QuorumscanError {
  const facts = { details: { outcome } }
  switch (outcome.kind) {
    case 'disputed': {
      const message = `${what}: the answers of the scans conflict, and no ${outcome.needed} of them are equal. Do not use any.`
      return transient('CONSENSUS_DISPUTED', message, facts)
    }
    case 'lagging':
      return transient('CONSENSUS_LAGGING', `${what}: some scans lag. Try again.`, facts)
    case 'insufficient': {
      const { reachable, nodeCount, needed, failures } = outcome
      const why = `${what}: ${reachable} of ${nodeCount} super-validators answered, ${needed} must agree`
      const [first] = failures
      if (reachable === 0 && !failures.some(({ isReachable }) => isReachable))
        return transient('NETWORK_ERROR', `${why}. Is this device online?`, facts)
      const example = first === undefined ? '' : ` (${first.svName}: ${first.reason})`
      return transient('NOT_ENOUGH_NODES', `${why}${example}.`, facts)
    }
  }
}
