/**
 * The rules that make a read right, as one record of functions, so that a test can break one and see that its
 * properties notice.
 */
import { maxFaulty } from '@quorumscan/verifier'
import { QuorumscanError } from '../errors.ts'

/**
 * Equal answers that decide. `f+1`: one honest super-validator gave it. `2f+1`: more than half of the honest ones did.
 * A number: from f+1 to n.
 */
export type SpliceThreshold = 'f+1' | '2f+1' | number

/** In a row; with the pauses between them who is back within a second and a half is heard. */
const FAILURES_MAX = 5

export const VOTE_RULES = {
  /**
   * Equal answers that are needed among n.
   *
   * @throws {QuorumscanError} INVALID_QUORUM for a number outside f+1..n.
   */
  votesNeeded(threshold: SpliceThreshold, nodeCount: number): number {
    const faultyMax = maxFaulty(nodeCount)
    if (threshold === 'f+1') return faultyMax + 1
    if (threshold === '2f+1') return 2 * faultyMax + 1
    if (Number.isInteger(threshold) && threshold > faultyMax && threshold <= nodeCount)
      return threshold
    throw new QuorumscanError(
      `The threshold is f+1, 2f+1 or a number from ${faultyMax + 1} to ${nodeCount}.`,
      { code: 'INVALID_QUORUM', definite: true, retryable: false },
    )
  },
  /** Who said the same: each super-validator once, with its newest answer. */
  votersOf: <V extends { readonly answer: string | null }>(
    voters: readonly V[],
    answer: string,
  ): readonly V[] => voters.filter((voter) => voter.answer === answer),
  /** What a failure says: nothing. */
  answerOfFailure: (_reason: string): string | null => null,
  /** Whether one who failed so often in a row is left alone for the rest of the read. */
  isGivenUp: (failureCount: number): boolean => failureCount >= FAILURES_MAX,
}

/** The rules of a read. */
export type VoteRules = typeof VOTE_RULES
