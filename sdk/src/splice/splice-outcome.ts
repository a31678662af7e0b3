/** Outcomes of a read, and the errors that they become in calls that return values. */
import type { TrustRule } from '@quorumscan/verifier'
import { transient } from '../errors.ts'
import type { VoteFailure } from './splice-decider.ts'

/** Numbers of a read. Super-validators have their names on the ledger. */
export type SpliceParticipation = {
  /** How many answers had to be equal. */
  readonly needed: number
  /** n: the number of super-validators that vote: all, or those of the trust rule. */
  readonly nodeCount: number
  /** f: how many of them may lie or be down without a wrong answer. */
  readonly faultyMax: number
  /** The rule of the option `trust`, which was applied; null: all super-validators vote. */
  readonly trust: TrustRule | null
  /** Who checked the answer, and how. `trusted`: one scan decided alone, or one seed named the scans. */
  readonly basis: 'votes' | 'trusted'
}

/** The answer of one or more super-validators; null: it does not exist. */
export type SpliceAnswers<T> = { readonly svNames: readonly string[]; readonly value: T | null }

/** Enough super-validators gave the same answer in this call. */
export type Agreed<T> = SpliceParticipation & {
  readonly kind: 'agreed'
  readonly value: T
  readonly agreed: readonly string[]
  /** Super-validators with another answer at the time of the decision. */
  readonly dissented: readonly string[]
}

/** Enough super-validators answered that it does not exist. */
export type AgreedAbsent = Omit<Agreed<null>, 'kind'> & { readonly kind: 'agreed-absent' }

/**
 * Enough answered, but not equally before the deadline. `lagging`: some changed to the answer of others, so that a retry
 * is likely to succeed. `disputed`: the answers continued to conflict.
 */
export type SpliceUndecided<T> = SpliceParticipation & {
  readonly kind: 'disputed' | 'lagging'
  /** Largest first. */
  readonly groups: readonly SpliceAnswers<T>[]
}

/** Too few answered. */
export type SpliceInsufficient = SpliceParticipation & {
  readonly kind: 'insufficient'
  /** How many answered. */
  readonly reachable: number
  /** Why the others did not answer. */
  readonly failures: readonly ({ readonly svName: string } & VoteFailure)[]
}

/**
 * All outcomes of a read. Only `agreed` and `agreed-absent` are answers to act on.
 *
 * They do not prove that the answer is the newest: f liars and one lagging honest node can agree on an older one, while
 * `2f+1` needs f + 1 honest nodes. They do not prove the names of super-validators if the seeds lied about them.
 * Answers are not signed, so they prove nothing to others. Only TLS authenticates the scans.
 */
export type SpliceOutcome<T> = Agreed<T> | AgreedAbsent | SpliceUndecided<T> | SpliceInsufficient

/** @throws {QuorumscanError} If the outcome is not an answer; `details.outcome` has the answers of the super-validators. */
export function decided<T>(what: string, outcome: SpliceOutcome<T>): Agreed<T> | AgreedAbsent {
  const facts = { details: { outcome } }
  switch (outcome.kind) {
    case 'agreed':
    case 'agreed-absent':
      return outcome
    case 'disputed': {
      const message = `${what}: the answers of the scans conflict, and no ${outcome.needed} of them are equal. Do not use any.`
      throw transient('CONSENSUS_DISPUTED', message, facts)
    }
    case 'lagging':
      throw transient('CONSENSUS_LAGGING', `${what}: some scans lag. Try again.`, facts)
    case 'insufficient': {
      const { reachable, nodeCount, needed, failures } = outcome
      const why = `${what}: ${reachable} of ${nodeCount} super-validators answered, ${needed} must agree`
      const [first] = failures
      if (reachable === 0 && !failures.some(({ isReachable }) => isReachable))
        throw transient('NETWORK_ERROR', `${why}. Is this device online?`, facts)
      const example = first === undefined ? '' : ` (${first.svName}: ${first.reason})`
      throw transient('NOT_ENOUGH_NODES', `${why}${example}.`, facts)
    }
  }
}
