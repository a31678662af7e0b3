/**
 * The decider of votes (D-34 to D-39): all nodes are asked the same at one offset, and equal answers of enough of
 * them decide. Deterministic: it has no clock and no sockets, so the same events at the same times have the same effects.
 *
 * Each step ends by sending reads that have a pin (`heads.ts`) and room (`lanes.ts`), in batches, to all nodes
 * (`send.ts`, `request-spec.ts`). Replies become votes (`on-reply.ts`), which `../votes/tally.ts` counts. `decide.ts`
 * decides what follows: an answer, a second round at another pin, or an end without an answer (`undecided.ts`).
 */

import { NEVER, wakeBy } from '../driver/decider-protocol.ts'
import { WAITING_MAX } from '../reader-base.ts'
import { decide, endAsLagging, repin } from './decide.ts'
import { type Call, createCall, type Item } from './item.ts'
import { enqueue, noteLate, noteLost, noteReply, pump, resetFailures } from './lanes.ts'
import { isFailing, noteAddress } from './node.ts'
import { onReply } from './on-reply.ts'
import { noteCompared } from './own-history.ts'
import { PROBE } from './request-spec.ts'
import { refuse, sendWaiting } from './send.ts'
import {
  bytesMaxOf,
  finish,
  note,
  openItems,
  type ReaderEvent,
  type State,
  wait,
} from './voted-state.ts'

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
      onReply(state, event.flight, noteReply(state, event.flight, event.reply))
      pump(state, event.flight.source.node)
      break
    case 'failed': {
      const judged = noteLost(state, event.flight, event)
      if (judged !== null) onReply(state, event.flight, judged)
      // A node that hangs is probed only by reads.
      if (!event.isTimeout) pump(state, event.flight.source.node)
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
        pump(state, node)
      }
      break
    case 'learned':
      state.isLearning = false
  }
}

/** Starts learning addresses and, after a pause, heads. */
function wake(state: State): void {
  const { nowMs } = state
  // Failures are remembered only while callers wait.
  if (state.itemCount === 0 && nowMs - state.finishedAtMs > IDLE_MS) resetFailures(state)
  if (nowMs - state.askedAtMs > IDLE_MS) {
    state.headsSinceMs = nowMs
    probeAll(state)
  }
  refreshAddresses(state)
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
  for (const node of state.nodes) enqueue(state, node, PROBE)
}

/** Keeps addresses and failing nodes under observation. */
function refreshAddresses(state: State): void {
  const isUrgent = state.nodes.some(({ url, lanes }) => url === null || isFailing(lanes.lookup))
  note(state, { kind: 'learn', isUrgent })
  for (const node of state.nodes) pump(state, node)
}

/** Ends waits that have taken their time, and retries reads that had to wait. */
function tick(state: State): void {
  if (state.itemCount > 0) refreshAddresses(state)
  retryBelowFloor(state)
  for (const item of openItems(state)) checkItem(state, item)
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
  const isLate = round !== undefined && state.nowMs - round.startedAtMs >= NODE_WAIT_MS
  if (isLate && round.voteStates.includes('lagging')) repin(state, item, round)
  decide(state, item)
}
