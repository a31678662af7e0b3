/**
 * Counts votes: which are equal, whether they suffice, and what follows if they do not.
 *
 * Deterministic, without I/O. The decider adds votes as they arrive and stops at the first verdict.
 */

import type { HistoryPoint } from '@quorumscan/verifier'
import { bytesEqual } from '@quorumscan/verifier'

/** The answer of one node to one request at one offset (D-35). */
export type Vote = HistoryPoint & { readonly answer: Uint8Array<ArrayBuffer> }

/** Equal votes and the voters (indices) that cast them, in order of arrival. */
export type Group<V = Vote> = { readonly vote: V; readonly voters: number[] }

/** The votes on one request, of nodes at one offset. Only the functions of this file change it. */
export type Ballot<V = Vote> = {
  readonly groups: Group<V>[]
  votedCount: number
  /** Which votes count together. */
  readonly isSame: (a: V, b: V) => boolean
}

export function createBallot<V>(isSame: (a: V, b: V) => boolean): Ballot<V> {
  return { groups: [], votedCount: 0, isSame }
}

/** Votes count together only where offset, record time, history hash and answer bytes are equal (D-35). */
export function isSameVote(a: Vote, b: Vote): boolean {
  return (
    a === b ||
    (a.offset === b.offset &&
      a.recordTime === b.recordTime &&
      a.historyHash === b.historyHash &&
      bytesEqual(a.answer, b.answer))
  )
}

/**
 * Adds a vote and returns the group that it joined.
 *
 * @throws {RangeError} If this voter has voted already. Each node counts once (D-35), so that is a bug of the caller.
 */
export function castVote<V>(
  ballot: Ballot<V>,
  { voter, vote }: { readonly voter: number; readonly vote: V },
): Group<V> {
  const { groups, isSame } = ballot
  if (groups.some(({ voters }) => voters.includes(voter))) throw new RangeError('a node votes once')
  let joined = groups.find((group) => isSame(group.vote, vote))
  if (joined === undefined) {
    joined = { vote, voters: [] }
    groups.push(joined)
  }
  joined.voters.push(voter)
  ballot.votedCount++
  return joined
}

/** Removes the vote of a voter, which votes again. */
export function withdrawVote<V>(ballot: Ballot<V>, voter: number): void {
  const { groups } = ballot
  const index = groups.findIndex(({ voters }) => voters.includes(voter))
  const group = groups[index]
  if (group === undefined) return
  ballot.votedCount--
  group.voters.splice(group.voters.indexOf(voter), 1)
  if (group.voters.length === 0) groups.splice(index, 1)
}

/** Removes the votes of a group, which are not an answer. */
export function discardGroup(ballot: Ballot, group: Group): void {
  ballot.groups.splice(ballot.groups.indexOf(group), 1)
  ballot.votedCount -= group.voters.length
}

/** The first of the largest groups; undefined without votes. */
export function largestGroup<V>(ballot: Ballot<V>): Group<V> | undefined {
  let largest: Group<V> | undefined
  for (const group of ballot.groups)
    if (largest === undefined || group.voters.length > largest.voters.length) largest = group
  return largest
}

/**
 * The only group that reaches the threshold; undefined if none or several do. Two such groups mean that more than f
 * nodes lie, and neither order nor size shows which one is right.
 */
export function decidingGroup(ballot: Ballot, threshold: number): Group | undefined {
  const [group, ...others] = ballot.groups.filter(({ voters }) => voters.length >= threshold)
  return others.length === 0 ? group : undefined
}

/** What is known of the nodes in addition to their votes. */
export type Attendance = {
  /** n of the genesis, including nodes that never answer. */
  readonly nodeCount: number
  /** Equal votes needed, from f + 1 to n. */
  readonly threshold: number
  /** Nodes without a vote that cannot be used: unreachable, silent, or answering nothing valid. */
  readonly unusableCount: number
  /** Nodes that have not reached the offset. */
  readonly laggingCount: number
  /** Whether a fork is known at the offset (see `histories.ts`). */
  readonly isFork: boolean
}

export type Verdict =
  | { readonly kind: 'decided'; readonly group: Group }
  | { readonly kind: 'disputed'; readonly reason: 'votes' | 'fork' }
  | { readonly kind: 'insufficient' }
  | { readonly kind: 'lagging' }
  | { readonly kind: 'open' }

/**
 * Judges the votes received so far (D-38, in its order).
 *
 * A fork comes first: if honest nodes hold two histories, no count of votes makes one of them right. `open`: votes
 * that may still arrive can decide.
 *
 * @throws {RangeError} If the threshold is not from 1 to n.
 */
export function tallyVerdict(ballot: Ballot, attendance: Attendance): Verdict {
  const { nodeCount, threshold, unusableCount, laggingCount } = attendance
  if (!(threshold >= 1 && threshold <= nodeCount)) throw new RangeError('threshold out of range')
  if (attendance.isFork) return { kind: 'disputed', reason: 'fork' }
  const group = decidingGroup(ballot, threshold)
  if (group !== undefined) return { kind: 'decided', group }
  const size = largestGroup(ballot)?.voters.length ?? 0
  if (size >= threshold) return { kind: 'disputed', reason: 'votes' }
  const missingCount = nodeCount - ballot.votedCount
  // No set of future votes can reach the threshold: waiting would only cost time.
  if (size + missingCount < threshold) return { kind: 'disputed', reason: 'votes' }
  if (unusableCount > nodeCount - threshold) return { kind: 'insufficient' }
  if (missingCount > unusableCount + laggingCount) return { kind: 'open' }
  if (laggingCount > 0) return { kind: 'lagging' }
  // The specification is silent on this: enough nodes answered, the others fail, and the answers differ. Only a
  // node that is down could decide between them. That is a dispute, not lag.
  return { kind: 'disputed', reason: 'votes' }
}
