/**
 * When is a read decided: as votes arrive and nodes fail (D-38), an answer, a second round, or an outcome without an
 * answer. `tally.ts` counts the votes. The history of the local replica is compared with that of the nodes.
 */
import { isAbsence, isEntryAnswer } from '../answers/batch.ts'
import { parseJson } from '../answers/reply.ts'
import { noteError } from '../source/source.ts'
import { isForkAt } from '../votes/histories.ts'
import type { Decided } from '../votes/read-outcome.ts'
import {
  discardGroup,
  type Group,
  largestGroup,
  tallyVerdict,
  type Verdict,
  type Vote,
} from '../votes/tally.ts'
import { isUnusable } from './ask.ts'
import { cannotReachThreshold, claimedByMany, claimedHeads, nextPin } from './offset.ts'
import { type Ending, participation, undecided } from './outcome.ts'
import {
  type Comparison,
  createRound,
  finish,
  type Item,
  isPruned,
  isSelfPinned,
  type Node,
  note,
  notePoint,
  type ReadTarget,
  type Round,
  type State,
  type Undecided,
  wait,
} from './state.ts'

const MALFORMED = 'malformed answer'
/** How long an answer waits for the local replica, which is compared afterwards too. */
const LOCAL_HASH_WAIT_MS = 50
/** For this long a node that was outvoted is asked last. */
const OUTVOTED_MS = 60_000
/** Offsets remembered: some seconds of reading under load. */
const OFFSETS_MAX = 256
const COMPARE_AGAIN_MS = 1000 // The local replica may reach the offset later than the nodes.
const COMPARISONS_MAX = 20

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
      if (!isPruned(state, round) || !repin(state, item, round))
        endUndecided(state, item, round, verdict)
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
  item.rounds.push(createRound(state, pin))
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
      for (const voter of other.voters) noteDissent(state, nodes[voter] as Node, group) // Voters are nodes.
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

/** The node was outvoted. Where one vote decides, none outvotes another: it counts for both sides. */
export function noteDissent(state: State, node: Node, decidedBy: Pick<Group, 'voters'>): void {
  const { faultyMax, nodes, nowMs } = state
  node.counters.dissents++
  if (faultyMax > 0) node.mistrustedUntilMs = nowMs + OUTVOTED_MS
  else for (const voter of decidedBy.voters) (nodes[voter] as Node).counters.dissents++ // Voters are nodes.
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

/** Compares the replica at an offset that is about to be read. */
function compareAt(state: State, offset: number): void {
  const { hasReplica, ownHistory } = state
  if (!hasReplica || ownHistory.has(offset)) return
  for (const [other, comparison] of ownHistory) if (isDue(state, comparison)) compare(state, other)
  const fresh = { isKnown: false, isAsking: false, tries: 0, askedAtMs: 0 }
  ownHistory.set(offset, fresh)
  const [oldest = offset] = ownHistory.keys()
  if (ownHistory.size > OFFSETS_MAX) ownHistory.delete(oldest)
  compare(state, offset)
}

/** Notes the reply of the replica; null: it has no history at the offset. */
export function noteCompared(state: State, offset: number, historyHash: string | null): void {
  const comparison = state.ownHistory.get(offset)
  if (comparison !== undefined) {
    comparison.isAsking = false
    comparison.isKnown = historyHash !== null
  }
  if (historyHash !== null) notePoint(state, null, { offset, historyHash })
}

/** Whether the first question to the replica about the offset is still open. */
function isUncompared({ ownHistory }: State, offset: number): boolean {
  const comparison = ownHistory.get(offset)
  return comparison?.isAsking === true && comparison.tries === 1
}

function isDue({ nowMs }: State, { isKnown, isAsking, tries, askedAtMs }: Comparison): boolean {
  return !isKnown && !isAsking && tries < COMPARISONS_MAX && nowMs - askedAtMs >= COMPARE_AGAIN_MS
}

function compare(state: State, offset: number): void {
  const comparison = state.ownHistory.get(offset) as Comparison // Asked only of what is remembered.
  comparison.isAsking = true
  comparison.tries++
  comparison.askedAtMs = state.nowMs
  note(state, { kind: 'compare', offset })
}
