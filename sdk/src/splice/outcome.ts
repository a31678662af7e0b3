/** What a read of several scans can end in, and the same as an error for calls that return values. */
import { passing, type QuorumscanError } from '../errors.ts'
import type { VoteFailure } from './decider.ts'

/** Who took part. Super-validators go by the names that they have on the ledger. */
export type SpliceParticipation = {
  /** Equal answers that were needed. */
  readonly needed: number
  /** n: how many super-validators there are. */
  readonly nodeCount: number
  /** f: how many of them may lie, or be dead, without a wrong answer. */
  readonly faultyMax: number
}

/** What one or more super-validators said; null: there is no such thing. */
export type SpliceAnswers<T> = { readonly svNames: readonly string[]; readonly value: T | null }

/** Enough super-validators gave the same answer in this call. */
export type Agreed<T> = SpliceParticipation & {
  readonly kind: 'agreed'
  readonly value: T
  readonly agreed: readonly string[]
  /** Who had said something else when that was decided; nobody waits for the others. */
  readonly dissented: readonly string[]
}

/** Enough super-validators said that there is no such thing. */
export type AgreedAbsent = Omit<Agreed<null>, 'kind'> & { readonly kind: 'agreed-absent' }

/**
 * Enough answered, and not the same, until the deadline. `lagging`: some came over to what others said, so that
 * asking again is likely to help. `disputed`: they kept contradicting each other.
 */
export type SpliceUndecided<T> = SpliceParticipation & {
  readonly kind: 'disputed' | 'lagging'
  /** Largest first. */
  readonly groups: readonly SpliceAnswers<T>[]
}

/** Fewer than needed answered. */
export type SpliceInsufficient = SpliceParticipation & {
  readonly kind: 'insufficient'
  /** How many answered. */
  readonly reachable: number
  /** Why the others did not. */
  readonly failures: readonly ({ readonly svName: string } & VoteFailure)[]
}

/**
 * All that a read can end in. Only `agreed` and `agreed-absent` are answers to act on.
 *
 * What they do not prove: that the answer is the newest (f liars and one honest node that lags can agree on what
 * was true before; `2f+1` needs f + 1 honest ones), that the names of the super-validators are right where the
 * seeds lied about them, or anything to others, since nothing is signed. Who answers is known by TLS alone.
 */
export type SpliceOutcome<T> = Agreed<T> | AgreedAbsent | SpliceUndecided<T> | SpliceInsufficient

/** @throws {QuorumscanError} Where the outcome is no answer. */
export function decided<T>(what: string, outcome: SpliceOutcome<T>): Agreed<T> | AgreedAbsent {
  if (outcome.kind === 'agreed' || outcome.kind === 'agreed-absent') return outcome
  throw undecidedError(what, outcome)
}

/** What is thrown where a value was asked for; `details.outcome` has who said what. */
function undecidedError<T>(
  what: string,
  outcome: SpliceUndecided<T> | SpliceInsufficient,
): QuorumscanError {
  const facts = { details: { outcome } }
  switch (outcome.kind) {
    case 'disputed':
      return passing(
        'CONSENSUS_DISPUTED',
        `${what}: the scans contradict each other, and ${outcome.needed} equal answers did not come. Use none of them.`,
        facts,
      )
    case 'lagging':
      return passing(
        'CONSENSUS_LAGGING',
        `${what}: scans are catching up with each other. Try again.`,
        facts,
      )
    case 'insufficient': {
      const { reachable, nodeCount, needed, failures } = outcome
      const why = `${what}: ${reachable} of ${nodeCount} super-validators answered, ${needed} must agree`
      const [first] = failures
      if (reachable === 0 && !failures.some(({ isReachable }) => isReachable))
        return passing('NETWORK_ERROR', `${why}. Is this device online?`, facts)
      const example = first === undefined ? '' : ` (${first.svName}: ${first.reason})`
      return passing('NOT_ENOUGH_NODES', `${why}${example}.`, facts)
    }
  }
}
