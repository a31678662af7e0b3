/**
 * Decides on an item as votes arrive and nodes fail (D-38): an answer, a second round, or an outcome without an
 * answer. `tally.ts` counts the votes.
 */
import { isAbsence, isEntryAnswer } from '../answers/batch.ts'
import { parseJson } from '../answers/reply.ts'
import { noteError } from '../source/source.ts'
import { isForkAt } from '../votes/histories.ts'
import { claimedByMany } from '../votes/pins.ts'
import type { Decided } from '../votes/read-outcome.ts'
import {
  createBallot,
  discardGroup,
  type Group,
  largestGroup,
  tallyVerdict,
  type Verdict,
  type Vote,
} from '../votes/tally.ts'
import { claimedHeads, nextPin } from './heads.ts'
import {
  type Item,
  isPruned,
  isSelfPinned,
  type NodeVoteState,
  type ReadTarget,
  type Round,
  type Undecided,
} from './item.ts'
import type { Node } from './node.ts'
import { compareAt, isUncompared } from './own-history.ts'
import { type Ending, participation, undecided } from './undecided.ts'
import { cannotReachThreshold, isUnusable } from './usable.ts'
import { finish, type State, wait } from './voted-state.ts'

const MALFORMED = 'malformed answer'
/** How long an answer waits for the local replica, which is compared afterwards too. */
const LOCAL_HASH_WAIT_MS = 50

/** Ends the item, or begins its second round, if what is known suffices. */
export function decide(state: State, item: Item): void {
  if (item.isDone) return
  const current = item.rounds.at(-1)
  for (const round of item.rounds) {
    const verdict = judgeRound(state, item, round)
    if (verdict.kind === 'open') continue
    if (verdict.kind === 'decided') {
      if (isHeldForReplica(state, round)) return
      if (!isTooOld(state, item, verdict.group)) {
        accept(state, item, round, verdict.group)
        return
      }
    }
    if (verdict.kind === 'disputed' && (round === current || verdict.reason === 'fork'))
      endUndecided(state, item, round, verdict)
    else if (round !== current)
      continue // The second round may still decide.
    else if (verdict.kind === 'insufficient') {
      // A pruned offset can be read again at a newer one.
      if (!isPruned(round) || !repin(state, item, round)) endUndecided(state, item, round, verdict)
    }
    // Lagging, or agreed on an old offset: a second round at a lower or newer one.
    else if (!repin(state, item, round)) endAsLagging(state, item)
    return
  }
  if (current === undefined && cannotReachThreshold(state, item))
    endUndecided(state, item, undefined, { kind: 'insufficient' })
}

/** Ends the item: the nodes have not reached the offset. */
export function endAsLagging(state: State, item: Item): void {
  const round = item.rounds.at(-1)
  endUndecided(state, item, round, {
    kind: 'lagging',
    wantedOffset: Math.max(round?.pin ?? 0, state.floor, item.minOffset),
    headOffset: claimedByMany(claimedHeads(state), item.threshold),
  })
}

/** Adds a round at the pin. */
export function startRound(state: State, item: Item, pin: number | null): void {
  if (pin !== null) compareAt(state, pin)
  item.rounds.push({
    pin,
    startedAtMs: state.nowMs,
    ballot: createBallot(),
    voteStates: new Array<NodeVoteState>(state.nodes.length).fill('open'),
    reasons: new Map(),
  })
}

/** Starts the second round. Returns false if the item had one, or no other pin could decide. */
export function repin(state: State, item: Item, round: Round): boolean {
  if (item.rounds.length > 1 || round.pin === null || item.isOverdue) return false
  const pin = nextPin(state, item, round)
  if (pin === null) return false
  item.staleAgeMs = null
  item.nextPin = pin
  // Counts as the second round, so that no third one starts.
  startRound(state, item, pin)
  wait(state, item)
  return true
}

function judgeRound(state: State, item: Item, round: Round): Verdict {
  let unusableCount = 0
  let laggingCount = 0
  for (const node of state.nodes) {
    const voteState = round.voteStates[node.index]
    if (voteState === 'voted') continue
    if (voteState === 'lagging') laggingCount++
    else if (voteState === 'failed' || isUnusable(state, item, node)) unusableCount++
  }
  const verdict = tallyVerdict(round.ballot, {
    nodeCount: state.nodeCount,
    threshold: item.threshold,
    unusableCount,
    laggingCount,
    isFork: round.pin !== null && isForkAt(state.histories, round.pin),
  })
  // Parsed only after enough nodes sent the same, so that one node cannot cause the cost.
  if (verdict.kind !== 'decided' || isAnswer(item.asked, verdict.group.vote)) return verdict
  discardGroup(round.ballot, verdict.group)
  for (const voter of verdict.group.voters) {
    round.voteStates[voter] = 'failed'
    round.reasons.set(voter, MALFORMED)
    noteError((state.nodes[voter] as Node).lanes.lookup, MALFORMED) // Voters are nodes.
  }
  return judgeRound(state, item, round)
}

function isHeldForReplica(state: State, { pin, startedAtMs }: Round): boolean {
  const isWaiting = pin !== null && isUncompared(state, pin)
  return isWaiting && state.nowMs - startedAtMs < LOCAL_HASH_WAIT_MS
}

/** Whether the agreed answer is older than `maxAge`, which is noted (D-39). */
function isTooOld({ nowMicros }: State, item: Item, { vote }: Group): boolean {
  const ageMs = (nowMicros - vote.recordTime) / 1000
  if (isSelfPinned(item) || ageMs <= item.maxAgeMs) return false
  item.staleAgeMs = Math.ceil(ageMs)
  return true
}

function accept(state: State, item: Item, round: Round, group: Group): void {
  const { nodes } = state
  for (const other of round.ballot.groups)
    if (other !== group)
      for (const voter of other.voters) (nodes[voter] as Node).counters.dissents++ // Voters are nodes.
  item.decided = group.vote
  if (item.asked.kind === 'read') shortenOthers(state, item, group)
  if (!isSelfPinned(item)) state.floor = Math.max(state.floor, group.vote.offset)
  const kind = state.faultyMax === 0 ? 'trusted' : 'verified'
  conclude(state, item, {
    kind: isAbsence(group.vote.answer) ? `${kind}-absent` : kind,
    ...group.vote,
    ...participation(state, { item, round, group }),
  })
}

/** Lets transports stop reading answers that are longer than the decided one. */
function shortenOthers({ nodes }: State, item: Item, { vote }: Group): void {
  for (const { lanes } of nodes)
    for (const flight of lanes.bulk.flights)
      if (flight.spec.items[0] === item) flight.bytesWanted = vote.answer.byteLength
}

function endUndecided(state: State, item: Item, round: Round | undefined, ending: Ending): void {
  const group = round && largestGroup(round.ballot)
  conclude(state, item, undecided(state, { item, round, group }, ending))
}

function conclude(state: State, item: Item, outcome: Decided | Undecided): void {
  const { call } = item
  finish(state, item)
  call.outcomes[item.index] = outcome
  if (--call.missing > 0) return
  delete state.calls[call.id]
  state.effects.push({ kind: 'done', read: call.id, outcome: call.outcomes })
}

/** Whether the bytes that enough nodes sent are an answer to the request (D-35). */
function isAnswer(asked: ReadTarget, { answer, recordTime }: Vote): boolean {
  if (asked.kind === 'lookup') return isEntryAnswer(answer, asked.lookup, recordTime)
  const body = parseJson(answer)
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  return isObject && asked.request.isValid?.(body) !== false
}
