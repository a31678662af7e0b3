/**
 * The decider of votes (D-34 to D-40): as many nodes as must agree are asked the same at one offset, and their equal
 * answers decide. Deterministic but for the order of asking: it has no clock and no sockets, so the same events at the
 * same times have the same effects.
 *
 * Each step ends by sending reads that have a pin (`offset.ts`) and room (`ask.ts`), in batches. Replies become votes
 * (`reply.ts`), which `../votes/tally.ts` counts. `decide.ts` decides what follows: more nodes are asked (`ask.ts`), a
 * second round begins at another pin, or the read ends with an outcome (`outcome.ts`).
 */

import { BATCH_LOOKUPS_MAX } from '@quorumscan/verifier'
import { NEVER, wakeBy } from '../driver/decider-protocol.ts'
import { overloaded, WAITING_MAX } from '../reader-base.ts'
import {
  areGathered,
  askFirst,
  askMoreForAll,
  isUnusable,
  noteLate,
  noteLost,
  probe,
  probeFailing,
  resetFailures,
  roomFor,
} from './ask.ts'
import { decide, endAsLagging, noteCompared, repin, startRound } from './decide.ts'
import { cannotReachThreshold, firstPin, pollHeads } from './offset.ts'
import { onNoReply, onReply } from './reply.ts'
import {
  bytesMaxOf,
  type Call,
  type Channel,
  channelOf,
  createCall,
  finish,
  type Item,
  isFailing,
  isFresh,
  isSelfPinned,
  note,
  noteAddress,
  openItems,
  type ReaderEvent,
  roundAt,
  type State,
  wait,
} from './state.ts'

/** The period of `tick` while a caller waits. */
const TICK_MS = 25
/** A node waits 250 ms for an offset (D-10), and its answer has to travel. */
const NODE_WAIT_MS = 300
const FLOOR_WAIT_MS = 250 // As a node waits for an offset.
const FLOOR_PROBE_MS = 25
/** A reader that has sent no request for this long does not know the heads (D-37). */
const IDLE_MS = 1000
/** Size of the answers to waiting pages and activities. It bounds what a lying node can make this process store. */
const READ_BYTES_WAITING_MAX = 64 * 1024 * 1024
/** Share of its time that a read may wait to be sent. The rest is for the answers. */
const QUEUE_SHARE = 1 / 4

/** Applies one event. Times never go back. */
export function step(state: State, event: ReaderEvent): void {
  apply(state, event)
  sendWaiting(state)
  if (state.itemCount > 0) wakeBy(state, state.nowMs + TICK_MS)
  else state.wakeAtMs = NEVER
}

function apply(state: State, event: ReaderEvent): void {
  switch (event.kind) {
    case 'began':
      wake(state)
      for (const { id, input } of event.reads) begin(state, createCall(id, input, state.nowMs))
      break
    case 'left':
    case 'deadline':
      for (const id of event.reads) {
        const call = state.calls[id]
        if (call !== undefined) endCall(state, call, event.kind)
      }
      break
    case 'reply':
      onReply(state, event.flight, event.reply)
      break
    case 'failed': {
      const reason = noteLost(state, event.flight, event)
      if (reason !== null) onNoReply(state, event.flight, reason)
      break
    }
    case 'late':
      noteLate(state, event.flight)
      break
    case 'woke':
      tick(state)
      break
    case 'compared':
      noteCompared(state, event.offset, event.historyHash)
      for (const item of openItems(state))
        if (item.rounds.at(-1)?.pin === event.offset) decide(state, item)
      break
    case 'located':
      for (const node of state.nodes) {
        if (node.name !== event.name) continue
        noteAddress(node, event)
        if (state.itemCount > 0 && !isFresh(state, node)) probe(state, node)
      }
      if (state.itemCount > 0) askMoreForAll(state)
      break
    case 'learned':
      state.isLearning = false
  }
}

/** Starts learning addresses and heads, which may have changed during a pause. */
function wake(state: State): void {
  const { nowMs, samples } = state
  // Failures are remembered only while callers wait.
  if (state.itemCount === 0 && nowMs - state.finishedAtMs > IDLE_MS) resetFailures(state)
  if (nowMs - state.askedAtMs > IDLE_MS) {
    state.headsSinceMs = nowMs
    // All nodes are asked for their heads: that stands for the first sample.
    for (const sample of [samples.lookup, samples.bulk]) {
      sample.atMs = nowMs
      if (!Number.isFinite(sample.votesAtMs)) sample.votesAtMs = nowMs
    }
    probeAll(state)
  }
  observe(state)
}

/** Admits a call, as a whole or not at all. */
function begin(state: State, call: Call): void {
  const bytesMax = call.items.reduce((sum, item) => sum + bytesMaxOf(item), 0)
  const isFull =
    state.itemCount + call.items.length > WAITING_MAX ||
    (bytesMax > 0 && state.readBytesMax + bytesMax > READ_BYTES_WAITING_MAX)
  state.calls[call.id] = call
  state.itemCount += call.items.length
  state.readBytesMax += bytesMax
  if (isFull) refuse(state, call)
  else for (const item of call.items) wait(state, item)
}

/** Refuses a call because there is no room. */
function refuse(state: State, call: Call): void {
  for (const item of call.items) finish(state, item)
  if (!(call.id in state.calls)) return
  delete state.calls[call.id]
  state.effects.push({ kind: 'done', read: call.id, outcome: overloaded() })
}

/** The caller left, or the call has waited as long as it may: then it ends with what is known. */
function endCall(state: State, call: Call, why: 'left' | 'deadline'): void {
  if (why === 'left') delete state.calls[call.id]
  for (const item of call.items) {
    if (why === 'left') finish(state, item)
    if (item.isDone) continue
    item.isOverdue = true
    decide(state, item)
    if (!item.isDone) endAsLagging(state, item)
  }
}

/** Asks every node for its head. */
function probeAll(state: State): void {
  state.askedAtMs = state.nowMs
  for (const node of state.nodes) probe(state, node)
}

/** Keeps addresses, heads and failing nodes under observation. */
function observe(state: State): void {
  const isUrgent = state.nodes.some(({ url, lanes }) => url === null || isFailing(lanes.lookup))
  note(state, { kind: 'learn', isUrgent })
  probeFailing(state)
  pollHeads(state)
}

/** Ends waits that have taken their time, and retries reads that had to wait. */
function tick(state: State): void {
  if (state.itemCount > 0) observe(state)
  retryBelowFloor(state)
  for (const item of openItems(state)) checkItem(state, item)
  askMoreForAll(state)
}

/** Retries items whose `minOffset` no pin has reached, until `FLOOR_WAIT_MS`. */
function retryBelowFloor(state: State): void {
  const { unsent } = state
  const retried = unsent.belowMinOffset.filter((item) => !item.isDone)
  unsent.belowMinOffset = []
  if (retried.length === 0) return
  for (const item of retried) wait(state, item)
  sendWaiting(state)
  for (const item of unsent.belowMinOffset)
    if (item.rounds.length === 0 && state.nowMs - item.startedAtMs >= FLOOR_WAIT_MS)
      endAsLagging(state, item)
  if (unsent.belowMinOffset.length > 0 && state.nowMs - state.askedAtMs >= FLOOR_PROBE_MS)
    probeAll(state)
}

function checkItem(state: State, item: Item): void {
  const round = item.rounds.at(-1)
  // A lagging node replies so after its own wait. The reader does not wait for slow nodes.
  const isLate = round !== undefined && state.nowMs - round.askedAtMs >= NODE_WAIT_MS
  if (isLate && round.voteStates.includes('lagging')) repin(state, item, round)
  decide(state, item)
}

/** Sends what can be sent. */
function sendWaiting(state: State): void {
  // An item may be sent again at another pin, but not a third time.
  while (sendOnce(state, 'lookup') + sendOnce(state, 'bulk') > 0);
}

/**
 * Sends what has a pin and room, each request after those before it have taken theirs. Returns how many were sent.
 *
 * The kind of which an item has waited longest is served first, and no other while that one waits for room: reads that need
 * many nodes would never find so many of them free.
 */
function sendOnce(state: State, channel: Channel): number {
  let sentCount = 0
  for (const [pin, kinds] of kindsByPin(state, channel)) {
    const items: Item[] = []
    const isFull = kinds.some((kind) => !take(state, { kind, pin, items }))
    if (items.length > 0) {
      dispatch(state, { items, pin })
      sentCount++
    }
    if (isFull) break
  }
  return sentCount
}

/** The kinds of a channel that have a pin, by pin, in the order in which they are served. */
function kindsByPin(state: State, channel: Channel): Map<number | null, string[]> {
  const { byKind } = state.unsent
  const waiting: { readonly kind: string; readonly first: Item }[] = []
  for (const [kind, alike] of Object.entries(byKind)) {
    const first = alike.find(({ isDone }) => !isDone)
    if (first === undefined) delete byKind[kind]
    else if (channelOf(first) === channel) waiting.push({ kind, first })
  }
  waiting.sort((a, b) => a.first.startedAtMs - b.first.startedAtMs)
  const kinds = new Map<number | null, string[]>()
  for (const { kind, first } of waiting) {
    const pin = isSelfPinned(first) ? null : pinOf(state, first)
    if (pin === null && !isSelfPinned(first)) byKind[kind] = stillWaiting(state, byKind[kind] ?? [])
    else kinds.set(pin, [...(kinds.get(pin) ?? []), kind])
  }
  return kinds
}

/** Adds items of one kind to those that are sent together. Returns false if it waits for room, which others must not take. */
function take(
  state: State,
  {
    kind,
    pin,
    items,
  }: { readonly kind: string; readonly pin: number | null; readonly items: Item[] },
): boolean {
  const { byKind, belowMinOffset } = state.unsent
  const waiting = (byKind[kind] ?? []).filter(({ isDone }) => !isDone)
  const [first] = waiting
  if (first === undefined) return true
  const isLookup = first.asked.kind === 'lookup'
  const room = roomFor(state, first)
  // A hopeless page is sent to find out whether nodes have recovered, and ends at once.
  const isSent = room === 'enough' || (!isLookup && isHopeless(state, first))
  const isGathered = isLookup && areGathered(state, waiting)
  const countMax = isSent && !isGathered ? (isLookup ? BATCH_LOOKUPS_MAX : 1) : 0
  let position = 0
  for (; position < waiting.length && items.length < countMax; position++) {
    const item = waiting[position] as Item
    if (pin !== null && item.minOffset > pin) belowMinOffset.push(item)
    else items.push(item)
  }
  const rest = waiting.slice(position)
  const isLong = isLookup ? rest.length >= BATCH_LOOKUPS_MAX : room === 'soon' && !isSent
  const left = isLong ? refuseLate(state, rest) : rest
  byKind[kind] = isLookup ? stillWaiting(state, left) : left
  return isSent || room === 'late'
}

/** Whether too few nodes can vote. */
function isHopeless(state: State, item: Item): boolean {
  const unusable = state.nodes.filter((node) => isUnusable(state, item, node))
  return unusable.length > state.nodeCount - item.threshold
}

/** Refuses items that have waited too long, while their callers still have time to react. */
function refuseLate(state: State, waiting: Item[]): Item[] {
  const lateMs = state.waitMs * QUEUE_SHARE
  // The oldest comes first.
  const position = waiting.findIndex(
    (item) => item.rounds.length > 0 || state.nowMs - item.startedAtMs <= lateMs,
  )
  const lateCount = position < 0 ? waiting.length : position
  for (const item of waiting.slice(0, lateCount)) refuse(state, item.call)
  return waiting.slice(lateCount).filter((item) => !item.isDone)
}

/** Returns those items of one kind that still wait. Hopeless ones end at once. */
function stillWaiting(state: State, alike: Item[]): Item[] {
  const [first] = alike
  if (first?.rounds.length !== 0 || !cannotReachThreshold(state, first)) return alike
  for (const item of alike) decide(state, item)
  return alike.filter((item) => !item.isDone)
}

function pinOf(state: State, item: Item): number | null {
  return item.nextPin ?? firstPin(state, item)
}

function dispatch(
  state: State,
  { items, pin }: { readonly items: readonly Item[]; readonly pin: number | null },
): void {
  state.askedAtMs = state.nowMs
  for (const item of items) {
    item.nextPin = null
    if (roundAt(item, pin) === undefined) startRound(state, item, pin)
  }
  askFirst(state, items, pin)
  for (const item of items) decide(state, item)
}
