import { maxFaulty, quorumOf } from './genesis.ts'

/** D-36: `weak` = f+1, `strong` = q, `all` = n, or a number from f+1 to n. */
export type Threshold = 'weak' | 'strong' | 'all' | number

/**
 * Equal votes that a threshold needs among n nodes.
 *
 * @returns undefined for a number outside f+1..n, or no integer.
 */
export function thresholdVotes(threshold: Threshold, nodeCount: number): number | undefined {
  const votesMin = maxFaulty(nodeCount) + 1
  if (threshold === 'weak') return votesMin
  if (threshold === 'strong') return quorumOf(nodeCount)
  if (threshold === 'all') return nodeCount
  return Number.isInteger(threshold) && threshold >= votesMin && threshold <= nodeCount
    ? threshold
    : undefined
}

/** Reads `x-quorum`. @returns undefined for anything that D-36 answers with 400. */
export function parseThreshold(text: string, nodeCount: number): Threshold | undefined {
  if (text === 'weak' || text === 'strong' || text === 'all') return text
  if (!/^[1-9][0-9]{0,2}$/.test(text)) return undefined
  const votes = Number(text)
  return thresholdVotes(votes, nodeCount) === undefined ? undefined : votes
}
