/** Taking the nodes' answers into the rounds of the items (D-35, D-42). */
import type { Reply } from '../answers/reply.ts'
import type { TransportReply } from '../nodes/transport.ts'
import { type CanonicalRequest, requestOfLookup } from '../statements/requests.ts'
import { castVote, type Vote } from '../votes/tally.ts'
import { PROBE, type Votes, votesIn } from './ask.ts'
import { decide } from './decide.ts'
import { type Asked, type Item, isVoteWanted, roundAt } from './item.ts'
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
export function hearFailure(state: State, id: number): void {
  const flight = state.flights.get(id)
  if (flight === undefined) return
  const judged = crash(state, flight)
  if (judged !== null) take(state, flight, judged)
  pump(state, flight.node)
}

/** Ends requests that took too long, and sends again what may be lost. */
export function sweepRequests(state: State): void {
  for (const { flight, judged } of sweepFlights(state)) take(state, flight, judged)
}

/** Signatures were checked: the votes with a valid one count. */
export function hearChecked(state: State, id: number, isValid: readonly boolean[]): void {
  const checked = state.checking.get(id)
  if (checked === undefined || !state.checking.delete(id)) return
  const { flight, votes } = checked
  for (const [index, item] of flight.ask.items.entries()) {
    if (!isValid[index]) {
      reject(state, flight, [item], 'signature of another key')
      continue
    }
    const vote = votes.votes[index] as Vote // As many votes as items, by `votesIn`.
    if (flight.ask.atOffset !== null) notePoint(state, flight.node.name, vote)
    takeVote(state, flight, { item, vote, signature: votes.signatures?.[index] ?? null })
  }
}

function take(state: State, flight: Flight, reply: Reply): void {
  const { ask, node, isSigned } = flight
  if (ask === PROBE) return // Whoever answers has told its head; that is all.
  if (reply.kind !== 'answer') standAside(state, flight, ask.items, reply)
  else if (ask.atOffset !== null && reply.point.offset !== ask.atOffset)
    reject(state, flight, ask.items, 'answered another offset')
  else {
    const votes = votesIn(ask, reply, isSigned)
    if (votes === undefined) reject(state, flight, ask.items, 'malformed answer')
    else if (isSigned) check(state, flight, votes)
    else {
      if (ask.atOffset !== null) notePoint(state, node.name, reply.point)
      for (const [index, item] of ask.items.entries())
        takeVote(state, flight, { item, vote: votes.votes[index] as Vote, signature: null })
    }
  }
}

/** Asks for the check of every signature. */
function check(state: State, flight: Flight, votes: Votes): void {
  const { id, node, ask } = flight
  state.checking.set(id, { flight, votes })
  const answers = ask.items.map((item, index) => ({
    read: item.id,
    request: canonicalOf(item.asked),
    vote: votes.votes[index] as Vote,
    signature: votes.signatures?.[index] as string, // Signed votes have one each.
  }))
  state.effects.push({ kind: 'check', flight: id, node: node.name, scanKey: node.scanKey, answers })
}

/** The operation that an item stands for, as it is signed (D-41). */
function canonicalOf(asked: Asked): CanonicalRequest {
  if (asked.kind === 'lookup') return requestOfLookup(asked.lookup)
  const { operation, parameters } = asked.request
  return { operation, parameters }
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
  cast: { readonly item: Item; readonly vote: Vote; readonly signature: string | null },
): void {
  const { item, vote, signature } = cast
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
  if (signature !== null) round.signatures.set(node.index, signature)
  node.counters.votes++
  const group = castVote(round.ballot, { voter: node.index, vote }, isSameVote)
  // One more equal vote below the threshold decides nothing where nobody dissented or failed.
  const isQuiet = round.ballot.groups.length === 1 && round.reasons.size === 0
  if (!isQuiet || group.voters.length >= item.threshold) decide(state, item)
}
