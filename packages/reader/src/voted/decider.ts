/**
 * The decider of votes (D-34 to D-39): all nodes are asked the same at one offset, and equal answers of enough of
 * them decide. Pure: it reads no clock, has no sockets and waits for nothing, so the same events at the same times
 * have the same effects.
 *
 * Every step ends alike: reads that have a pin (`heads.ts`) and room (`lanes.ts`) leave, in batches, to all nodes
 * (`send.ts`, `ask.ts`). Answers become votes (`hear.ts`), which are counted (`../votes/tally.ts`); `decide.ts` says
 * what follows: an answer, a second round at another pin, or an end without an answer (`undecided.ts`).
 */
import { WAITING_MAX } from '../base.ts'
import { NEVER, wakeBy } from '../driver/decider.ts'
import { PROBE } from './ask.ts'
import { decide, lag, repin } from './decide.ts'
import { hear } from './hear.ts'
import { type Call, createCall, type Item } from './item.ts'
import { crash, forgive, land, noteLate, offer, pump } from './lanes.ts'
import { isFailing, noteAddress } from './node.ts'
import { noteCompared } from './own-history.ts'
import { refuse, sendWaiting } from './send.ts'
import { bytesMaxOf, finish, note, type ReaderEvent, type State, wait } from './state.ts'

/** So often it is looked at what time does, while a caller waits. */
const TICK_MS = 25
/** A node waits 250 ms for an offset (D-10), and its answer has to travel. */
const NODE_WAIT_MS = 300
const FLOOR_WAIT_MS = 250 // As a node waits for an offset.
const FLOOR_PROBE_MS = 25
/** A reader that has asked nothing for so long does not know the heads (D-37). */
const IDLE_MS = 1000
/** Of the answers to pages and activities waiting: so much a lying node can make us hold. */
const READ_BYTES_WAITING_MAX = 64 * 1024 * 1024

/** Takes one event in. Times never go back. */
export function step(state: State, event: ReaderEvent): void {
  take(state, event)
  sendWaiting(state)
  if (state.items.size > 0) wakeBy(state, state.nowMs + TICK_MS)
  else state.wakeAtMs = NEVER
}

function take(state: State, event: ReaderEvent): void {
  switch (event.kind) {
    case 'began':
      wake(state)
      for (const { id, input } of event.reads) begin(state, createCall(id, input, state.nowMs))
      break
    case 'left':
    case 'deadline':
      for (const id of event.reads) {
        const call = state.calls.get(id)
        if (call !== undefined) endCall(state, call, event.kind)
      }
      break
    case 'reply':
      hear(state, event.flight, land(state, event.flight, event.reply))
      pump(state, event.flight.source.node)
      break
    case 'failed': {
      const judged = crash(state, event.flight, event)
      if (judged !== null) hear(state, event.flight, judged)
      // Nodes that hang are not probed for ever, but by what is read.
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
      for (const item of state.items)
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
  // What was known of failures is too old; while a caller waited, it was kept up to date.
  if (state.items.size === 0 && nowMs - state.finishedAtMs > IDLE_MS) forgive(state)
  if (nowMs - state.askedAtMs > IDLE_MS) {
    state.headsSinceMs = nowMs
    probeAll(state)
  }
  keepLearning(state)
}

/** Takes a call in, as a whole or not at all. */
function begin(state: State, call: Call): void {
  const bytesMax = call.items.reduce((sum, item) => sum + bytesMaxOf(item), 0)
  const isFull =
    state.items.size + call.items.length > WAITING_MAX ||
    (bytesMax > 0 && state.readBytesMax + bytesMax > READ_BYTES_WAITING_MAX)
  state.calls.set(call.id, call)
  if (isFull) {
    refuse(state, call)
    return
  }
  state.readBytesMax += bytesMax
  for (const item of call.items) {
    state.items.add(item)
    wait(state, item)
  }
}

/** Its caller left, or cannot wait longer: then it ends with what is known. */
function endCall(state: State, call: Call, why: 'left' | 'deadline'): void {
  if (why === 'left') state.calls.delete(call.id)
  for (const item of call.items) {
    if (why === 'left') finish(state, item)
    if (item.isDone) continue
    item.isOverdue = true
    decide(state, item)
    if (!item.isDone) lag(state, item)
  }
}

/** Asks every node for its head. */
function probeAll(state: State): void {
  state.askedAtMs = state.nowMs
  for (const node of state.nodes) offer(state, node, PROBE)
}

/** Keeps addresses and failing nodes under observation. */
function keepLearning(state: State): void {
  const isUneasy = state.nodes.some(({ url, lanes }) => url === null || isFailing(lanes.lookup))
  note(state, { kind: 'learn', isUneasy })
  for (const node of state.nodes) pump(state, node)
}

/** What time does to reads: it ends waits, and tries again what had to wait. */
function tick(state: State): void {
  if (state.items.size > 0) keepLearning(state)
  sweepFloored(state)
  for (const item of state.items) sweepItem(state, item)
}

/** Items whose `minOffset` no pin reached yet are tried again, for a while. */
function sweepFloored(state: State): void {
  const { unsent } = state
  const floored = unsent.floored.filter((item) => !item.isDone)
  unsent.floored = []
  if (floored.length === 0) return
  for (const item of floored) wait(state, item)
  sendWaiting(state)
  for (const item of unsent.floored)
    if (item.rounds.length === 0 && state.nowMs - item.startedAtMs >= FLOOR_WAIT_MS)
      lag(state, item)
  if (unsent.floored.length > 0 && state.nowMs - state.askedAtMs >= FLOOR_PROBE_MS) probeAll(state)
}

function sweepItem(state: State, item: Item): void {
  const round = item.rounds.at(-1)
  // At the end of the node wait those that lag have said so; the slow ones are not waited for.
  const isLate = round !== undefined && state.nowMs - round.startedAtMs >= NODE_WAIT_MS
  if (isLate && round.standings.includes('lagging')) repin(state, item, round)
  decide(state, item)
}
