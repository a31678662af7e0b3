/** The answers of super-validators, and how many there are. */
import type { TrustRule } from '@quorumscan/verifier'
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
