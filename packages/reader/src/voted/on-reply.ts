/** Counts the replies of nodes in the rounds of the items (D-35). */
import type { Reply } from '../answers/reply.ts'
import { proveTime } from '../driver/proven-time.ts'
import { noteError } from '../source/source.ts'
import { castVote, isSameVote, type Vote } from '../votes/tally.ts'
import { decide } from './decide.ts'
import { type Item, isVoteWanted, roundAt } from './item.ts'
import type { Sent } from './node.ts'
import { PROBE, votesIn } from './request-spec.ts'
import { notePoint, type State } from './voted-state.ts'

/** A request ended, with an answer or without. */
export function onReply(state: State, flight: Sent, reply: Reply): void {
  const { spec, source } = flight
  if (spec === PROBE) return // Its only result is the head of the node, which is noted already.
  if (reply.kind !== 'answer') abstain(state, flight, reply)
  else if (spec.pin !== null && reply.point.offset !== spec.pin)
    reject(state, flight, 'answered another offset')
  else {
    const votes = votesIn(spec, reply)
    if (votes === undefined) reject(state, flight, 'malformed answer')
    else {
      if (spec.pin !== null) notePoint(state, source.node.name, reply.point)
      for (const [index, item] of spec.items.entries())
        countVote(state, flight, item, votes[index] as Vote) // As many as items.
    }
  }
}

/** An answer with status 200 that is not a vote. */
function reject(state: State, flight: Sent, reason: string): void {
  noteError(flight.source, reason)
  abstain(state, flight, { kind: 'failed', reason })
}

/** The node does not vote. */
function abstain(
  state: State,
  { spec, source }: Sent,
  reply: Exclude<Reply, { readonly kind: 'answer' }>,
): void {
  const { index } = source.node
  for (const item of spec.items) {
    const round = roundAt(item, spec.pin)
    if (round === undefined || !isVoteWanted(item, spec.pin, index)) continue
    // A node that pruned the offset cannot vote on it, and a lower pin would not help.
    const isLagging = reply.kind === 'lagging' && reply.reason === 'not-reached'
    round.voteStates[index] = isLagging ? 'lagging' : 'failed'
    round.reasons.set(index, reply.reason)
    decide(state, item)
  }
}

function countVote(state: State, { spec, source }: Sent, item: Item, vote: Vote): void {
  const { index: voter, counters } = source.node
  if (item.isDone) {
    // A late vote is counted, and compared with what was decided.
    if (item.decided?.offset !== vote.offset) return
    counters.votes++
    if (!isSameVote(item.decided, vote)) counters.dissents++
    return
  }
  const round = roundAt(item, spec.pin)
  if (round === undefined || round.voteStates[voter] === 'voted') return
  round.voteStates[voter] = 'voted'
  round.reasons.delete(voter)
  counters.votes++
  const group = castVote(round.ballot, { voter, vote })
  if (group.voters.length > state.faultyMax) proveTime(state, vote.recordTime)
  // Another equal vote below the threshold decides nothing while all agree and none has failed.
  const isQuiet = round.ballot.groups.length === 1 && round.reasons.size === 0
  if (!isQuiet || group.voters.length >= item.threshold) decide(state, item)
}
