import type { MemberSet } from './member-set.ts'
import type { TrustRule } from './trust.ts'

/** D-36: `weak` = f+1, `strong` = q, `all` = n, or a number from f+1 to n. */
export type Threshold = 'weak' | 'strong' | 'all' | number

/**
 * Equal votes that a threshold needs among these members. Under a trust rule (D-75) its members are the nodes, and `weak` is its
 * threshold.
 *
 * @returns undefined for a number outside `weak`..`all`, or no integer.
 */
export function thresholdVotes(
  threshold: Threshold,
  set: Pick<MemberSet, 'n' | 'f'>,
  trust?: TrustRule | null,
): number | undefined {
  const count = trust?.members.length ?? set.n
  const votesMin = trust?.threshold ?? set.f + 1
  if (threshold === 'weak') return votesMin
  // `quorumOf`, of any `votesMin`: two such groups share `votesMin` nodes.
  if (threshold === 'strong') return Math.ceil((count + votesMin) / 2)
  if (threshold === 'all') return count
  return Number.isInteger(threshold) && threshold >= votesMin && threshold <= count
    ? threshold
    : undefined
}

/** Reads `x-quorum`. @returns undefined for anything that D-36 answers with 400. */
export function parseThreshold(
  text: string,
  set: Pick<MemberSet, 'n' | 'f'>,
  trust?: TrustRule | null,
): Threshold | undefined {
  if (text === 'weak' || text === 'strong' || text === 'all') return text
  if (!/^[1-9][0-9]{0,2}$/.test(text)) return undefined
  const votes = Number(text)
  return thresholdVotes(votes, set, trust) === undefined ? undefined : votes
}
