/** What is the outcome: who took part, and why a read was not decided (D-38). */

import { ENTRY_NAME_LENGTH_MAX, memberOf, membersOf } from '@quorumscan/verifier'
import { parseJson } from '../answers/reply.ts'
import type {
  Disputed,
  Insufficient,
  Lagging,
  Participation,
  VoteGroup,
} from '../votes/read-outcome.ts'
import type { Group } from '../votes/tally.ts'
import { isUnusable } from './ask.ts'
import { reportedNoHead } from './offset.ts'
import {
  type Item,
  isFresh,
  type Node,
  type Round,
  type State,
  type Undecided,
  type VoteGroupWithAnswer,
} from './state.ts'

const PARTY_LENGTH_MAX = 255 // D-30.
const GROUPS_MAX = 16 // Bounds the body of the answer.
const RETRY_AFTER_MS = { 'not-reached': 250, stale: 1000, floor: 250 } as const

/** Kind and reason of an outcome without an answer. */
export type Ending =
  | Pick<Disputed, 'kind' | 'reason'>
  | Pick<Insufficient, 'kind'>
  | Pick<Lagging, 'kind' | 'wantedOffset' | 'headOffset'>

/** An item at its end. */
export type EndedItem = {
  readonly item: Item
  /** Undefined if no node was asked. */
  readonly round: Round | undefined
  /** The group that decided, or the largest. */
  readonly group: Group | undefined
}

export function undecided(state: State, ended: EndedItem, ending: Ending): Undecided {
  const { threshold, staleAgeMs } = ended.item
  const part = participation(state, ended)
  switch (ending.kind) {
    case 'disputed':
      return { ...ending, groups: voteGroups(state, ended), ...part }
    case 'insufficient': {
      const reachable = state.nodes.filter((node) => isReachable(state, ended, node)).length
      const retryAfterMs = refusedMs(state, threshold - reachable)
      return { ...ending, reachable, needed: threshold, retryAfterMs, ...part }
    }
    case 'lagging': {
      const reason =
        staleAgeMs !== null ? 'stale' : ended.round === undefined ? 'floor' : 'not-reached'
      return { ...ending, reason, ageMs: staleAgeMs, retryAfterMs: RETRY_AFTER_MS[reason], ...part }
    }
  }
}

function isReachable(state: State, ended: EndedItem, node: Node): boolean {
  const voteState = ended.round?.voteStates[node.index] ?? 'unasked'
  if (voteState === 'voted' || voteState === 'lagging') return true
  if (voteState === 'failed') return false
  const isRefusing = node.refusesUntilMs > state.nowMs
  if (reportedNoHead(state, node) || isRefusing) return false
  // A node that reported its head is reachable, even if time ran out.
  const hasReportedHead = ended.round === undefined && isFresh(state, node)
  return hasReportedHead || !isUnusable(state, ended.item, node)
}

/** How long until `missingCount` of the refusing nodes accept requests; null if fewer refuse. */
function refusedMs({ nodes, nowMs }: State, missingCount: number): number | null {
  const waits = nodes
    .map(({ refusesUntilMs }) => Math.ceil(refusesUntilMs - nowMs))
    .filter((ms) => ms > 0)
  return waits.sort((a, b) => a - b)[Math.max(missingCount, 1) - 1] ?? null
}

function voteGroups({ nodes }: State, { item, round }: EndedItem): VoteGroupWithAnswer[] {
  const largestFirst = [...(round?.ballot.groups ?? [])].sort(
    (a, b) => b.voters.length - a.voters.length,
  )
  return largestFirst.slice(0, GROUPS_MAX).map(({ vote, voters }) => ({
    ...vote,
    nodes: namesOf(voters, nodes),
    // A page has no single entry, and is not parsed.
    entry: item.asked.kind === 'lookup' ? entryOf(vote.answer) : null,
  }))
}

/** The entry in a valid lookup answer; null for anything else. */
function entryOf(answer: Uint8Array): VoteGroup['entry'] {
  const { name, user } = membersOf(memberOf(parseJson(answer), 'entry'))
  return typeof name === 'string' && typeof user === 'string'
    ? { name: name.slice(0, ENTRY_NAME_LENGTH_MAX), user: user.slice(0, PARTY_LENGTH_MAX) }
    : null
}

export function participation(
  { nodes, nodeCount, trust, clockSkewMs }: State,
  { item: { threshold }, round, group }: EndedItem,
): Participation {
  const { groups, votedCount } = round?.ballot ?? { groups: [], votedCount: 0 }
  const dissenters = groups.filter((other) => other !== group).flatMap(({ voters }) => voters)
  return {
    threshold,
    nodeCount,
    trust,
    asked: nodes
      .filter(({ index }) => (round?.voteStates[index] ?? 'unasked') !== 'unasked')
      .map(({ name }) => name),
    answered: votedCount,
    agreed: namesOf(group?.voters ?? [], nodes),
    dissented: namesOf(dissenters, nodes),
    clockSkewMs,
  }
}

/** In order of the genesis. */
function namesOf(voters: readonly number[], nodes: readonly Node[]): string[] {
  return nodes.filter(({ index }) => voters.includes(index)).map(({ name }) => name)
}
