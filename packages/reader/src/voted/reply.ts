/** What a reply means: a vote on each item, lag, or no vote (D-35); and what it shows of its node. */
import { bodiesEqual } from '@quorumscan/verifier'
import { cutBatchAnswer } from '../answers/batch.ts'
import {
  decodeText,
  judgeReply,
  parseOffsetText,
  type Reply,
  readRefusal,
} from '../answers/reply.ts'
import { proveTime } from '../driver/proven-time.ts'
import { noteAnswer, noteError } from '../source/source.ts'
import type { TransportReply } from '../source/transport.ts'
import { castVote, isSameVote, type Vote } from '../votes/tally.ts'
import { askMore } from './ask.ts'
import { decide, noteDissent } from './decide.ts'
import {
  type Item,
  isFresh,
  isVoteWanted,
  type Node,
  note,
  notePoint,
  type RequestSpec,
  roundAt,
  type Sent,
  type State,
} from './state.ts'

type Answer = Reply & { readonly kind: 'answer' }

/** The time until a node is asked again that refuses without `retry-after`. */
const RETRY_AFTER_MS = 1000
/** For this long a node that could not answer is asked last. The sample asks it sooner. */
const UNABLE_MS = 2000

/** The node replied. */
export function onReply(state: State, flight: Sent, reply: TransportReply): void {
  const { source: lane, sentAtMs } = flight
  const { node } = lane
  const { nowMs } = state
  const judged = judgeReply(reply)
  lane.answeredAtMs = lane.endedAtMs = nowMs
  node.counters.latencyMsLast = nowMs - sentAtMs
  // A lagging node has waited for the offset.
  noteAnswer(lane, judged.kind === 'lagging' ? null : nowMs - sentAtMs)
  if (judged.kind === 'failed') noteError(lane, judged.reason)
  else noteHead(state, node, reply)
  if (reply.status === 429)
    node.refusesUntilMs = nowMs + (readRefusal(reply).retryAfterMs ?? RETRY_AFTER_MS)
  onJudged(state, flight, judged)
}

/** The request ended without a reply. */
export function onNoReply(state: State, flight: Sent, reason: string): void {
  noteError(flight.source, reason)
  onJudged(state, flight, { kind: 'failed', reason })
}

function onJudged(state: State, flight: Sent, reply: Reply): void {
  const { spec, source, sentAtMs } = flight
  const { kind } = reply
  note(state, { node: source.node.name, kind, durationMs: state.nowMs - sentAtMs })
  if (reply.kind !== 'answer') abstain(state, flight, reply)
  else if (spec.kind !== 'probe') count(state, flight, reply)
}

function count(state: State, flight: Sent, reply: Answer): void {
  const { spec, source } = flight
  const reject = (reason: string) => {
    noteError(source, reason)
    abstain(state, flight, { kind: 'failed', reason })
  }
  if (spec.pin !== null && reply.point.offset !== spec.pin) {
    reject('answered another offset')
    return
  }
  const votes = votesIn(spec, reply)
  if (votes === undefined) {
    reject('malformed answer')
    return
  }
  if (spec.pin !== null) notePoint(state, source.node.name, reply.point)
  const open = spec.items.filter(
    (item, index) => countVote(state, flight, item, votes[index] as Vote), // As many as items.
  )
  if (open.length > 0) askMore(state, open, spec.pin)
}

/** The node does not vote. */
function abstain(
  state: State,
  { spec, source }: Sent,
  reply: Exclude<Reply, { readonly kind: 'answer' }>,
): void {
  const { node } = source
  // A node that pruned the offset cannot vote on it, and a lower pin would not help. An honest one has recent offsets.
  const isPruned = reply.reason === 'pruned'
  const isLagging = reply.kind === 'lagging' && !isPruned
  if (isPruned && spec.pin !== null) node.counters.lastError = 'pruned a recent offset'
  node.mistrustedUntilMs = Math.max(node.mistrustedUntilMs, state.nowMs + UNABLE_MS)
  for (const item of spec.items) {
    const round = roundAt(item, spec.pin)
    if (round === undefined || !isVoteWanted(item, spec.pin, node.index)) continue
    round.voteStates[node.index] = isLagging ? 'lagging' : 'failed'
    round.reasons.set(node.index, reply.reason)
    decide(state, item)
  }
  askMore(state, spec.items, spec.pin)
}

/** Returns whether more nodes may have to be asked. */
function countVote(state: State, { spec, source }: Sent, item: Item, vote: Vote): boolean {
  const { index: voter, counters } = source.node
  if (item.isDone) {
    // A late vote is counted, and compared with what was decided.
    if (item.decided?.offset !== vote.offset) return false
    counters.votes++
    if (isSameVote(item.decided, vote)) return false
    const groups = item.rounds.flatMap(({ ballot }) => ballot.groups)
    const decidedBy = groups.find((group) => group.vote === item.decided)
    noteDissent(state, source.node, decidedBy ?? { voters: [] })
    return false
  }
  const round = roundAt(item, spec.pin)
  if (round === undefined || round.voteStates[voter] === 'voted') return false
  round.voteStates[voter] = 'voted'
  round.reasons.delete(voter)
  counters.votes++
  const group = castVote(round.ballot, { voter, vote })
  if (group.voters.length > state.faultyMax) proveTime(state, vote.recordTime)
  // Another equal vote below the threshold decides nothing while all agree and none has failed.
  const isQuiet = round.ballot.groups.length === 1 && round.reasons.size === 0
  if (isQuiet && group.voters.length < item.threshold) return false
  decide(state, item)
  return !item.isDone
}

/** Notes the head that an answer reports. */
function noteHead(state: State, node: Node, reply: TransportReply): void {
  const head = parseOffsetText(reply.header('x-ledger-head'))
  if (head === undefined) return
  if (!isFresh(state, node)) node.freshAtMs = state.nowMs
  node.head = head
  node.headAtMs = state.nowMs
}

/**
 * The votes in an answer, as bytes; undefined if it has another form. Equal answers of several nodes give the same
 * `Vote` objects.
 */
function votesIn(spec: RequestSpec, { point, body }: Answer): readonly Vote[] | undefined {
  const same = spec.cut.find(
    (other) =>
      other.point.offset === point.offset &&
      other.point.recordTime === point.recordTime &&
      other.point.historyHash === point.historyHash &&
      bodiesEqual(other.body, body),
  )
  if (same !== undefined) return same.votes
  const answers =
    spec.kind === 'read' ? [body] : cutBatchAnswer(decodeText(body), spec.items.length)
  const votes = answers?.map((answer) => ({ ...point, answer }))
  spec.cut.push({ point, body, votes })
  return votes
}
