/** Taking the nodes' answers into the rounds of the items (D-35). */
import type { Reply } from '../answers/reply.ts'
import type { TransportReply } from '../source/transport.ts'
import { castVote, type Vote } from '../votes/tally.ts'
import { PROBE, votesIn } from './ask.ts'
import { decide } from './decide.ts'
import { type Item, isVoteWanted, roundAt } from './item.ts'
import { crash, land, pump, sweepFlights } from './lanes.ts'
import { type Flight, noteError } from './node.ts'
import { notePoint, type State } from './state.ts'

/** A request was answered. */
export function hearReply(state: State, id: number, reply: TransportReply): void {
  const flight = state.flights.get(id)
  if (flight === undefined) return // Dropped meanwhile.
  take(state, flight, land(state, flight, reply))
  pump(state, flight.node)
}

/** The connection of a request failed. */
export function hearFailure(state: State, id: number, reason?: string): void {
  const flight = state.flights.get(id)
  if (flight === undefined) return
  const judged = crash(state, flight, reason)
  if (judged !== null) take(state, flight, judged)
  pump(state, flight.node)
}

/** Ends requests that took too long, and sends again what may be lost. */
export function sweepRequests(state: State): void {
  for (const { flight, judged } of sweepFlights(state)) take(state, flight, judged)
}

function take(state: State, flight: Flight, reply: Reply): void {
  const { ask, node } = flight
  if (ask === PROBE) return // Whoever answers has told its head; that is all.
  if (reply.kind !== 'answer') standAside(state, flight, ask.items, reply)
  else if (ask.atOffset !== null && reply.point.offset !== ask.atOffset)
    reject(state, flight, ask.items, 'answered another offset')
  else {
    const votes = votesIn(ask, reply)
    if (votes === undefined) reject(state, flight, ask.items, 'malformed answer')
    else {
      if (ask.atOffset !== null) notePoint(state, node.name, reply.point)
      for (const [index, item] of ask.items.entries())
        takeVote(state, flight, { item, vote: votes[index] as Vote }) // As many as items.
    }
  }
}

/** An answer with status 200 that is no vote. */
function reject(state: State, flight: Flight, items: readonly Item[], reason: string): void {
  noteError(flight.node, reason)
  standAside(state, flight, items, { kind: 'failed', reason })
}

/** The node does not vote on these. */
function standAside(
  state: State,
  { ask, node }: Flight,
  items: readonly Item[],
  reply: Exclude<Reply, { readonly kind: 'answer' }>,
): void {
  for (const item of items) {
    const round = roundAt(item, ask.pin)
    if (round === undefined || !isVoteWanted(item, ask.pin, node.index)) continue
    // A node that pruned the offset is of no use for it, and a lower one would not help either.
    const isLagging = reply.kind === 'lagging' && reply.reason === 'not-reached'
    round.standings[node.index] = isLagging ? 'lagging' : 'failed'
    round.reasons.set(node.index, reply.reason)
    decide(state, item)
  }
}

function takeVote(
  state: State,
  { ask, node }: Flight,
  { item, vote }: { readonly item: Item; readonly vote: Vote },
): void {
  const { isVote, isSameVote } = state.decisions
  if (!isVote(vote)) return
  if (item.isDone) {
    // It came late: it is counted, and whether it dissents.
    if (item.decided?.offset !== vote.offset) return
    node.counters.votes++
    if (!isSameVote(item.decided, vote)) node.counters.dissents++
    return
  }
  const round = roundAt(item, ask.pin)
  if (round === undefined || round.standings[node.index] === 'voted') return
  round.standings[node.index] = 'voted'
  round.reasons.delete(node.index)
  node.counters.votes++
  const group = castVote(round.ballot, { voter: node.index, vote }, isSameVote)
  // One more equal vote below the threshold decides nothing where nobody dissented or failed.
  const isQuiet = round.ballot.groups.length === 1 && round.reasons.size === 0
  if (!isQuiet || group.voters.length >= item.threshold) decide(state, item)
}
