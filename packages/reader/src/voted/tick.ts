/** What time does to reads: it ends waits, gives up requests, and tries again what had to wait. */
import { decide, lag, repin } from './decide.ts'
import { sweepRequests } from './hear.ts'
import type { Item } from './item.ts'
import { sendWaiting } from './send.ts'
import { type State, tickWithin, wait } from './state.ts'
import { keepLearning, probeAll } from './take.ts'

const TICK_MS = 25
/** In which the process reads what its sockets hold. */
const TURN_MS = 1
/** A node waits 250 ms for an offset (D-10), and its answer has to travel. */
const NODE_WAIT_MS = 300
const FLOOR_WAIT_MS = 250 // As a node waits for an offset.
const FLOOR_PROBE_MS = 25

/**
 * After this process stood still, or slept: nobody was late in that time, and what came meanwhile is read
 * before anybody is.
 */
export function excuseStall(state: State): void {
  const missedMs = state.nowMs - state.tickAtMs
  if (!state.decisions.isStalled(missedMs)) return
  for (const flight of state.flights.values()) flight.startedAtMs += missedMs
  for (const item of state.items.values()) {
    item.startedAtMs += missedMs
    item.endsAtMs += missedMs
    for (const round of item.rounds) round.startedAtMs += missedMs
  }
  state.tickAtMs = state.nowMs + TURN_MS
}

/** Plans the next tick, if there is something to wait for. */
export function planTick(state: State): void {
  const isBusy = state.items.size > 0 || state.flights.size > 0
  if (isBusy) tickWithin(state, TICK_MS)
  else state.tickAtMs = Number.POSITIVE_INFINITY
}

/** Does what is due; nothing before it is. */
export function tick(state: State): void {
  if (state.nowMs < state.tickAtMs) return
  state.tickAtMs = Number.POSITIVE_INFINITY
  sweepRequests(state)
  if (state.items.size > 0) keepLearning(state)
  sweepFloored(state)
  for (const item of state.items.values()) sweepItem(state, item)
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
  item.isOverdue = state.nowMs >= item.endsAtMs
  const round = item.rounds.at(-1)
  // At the end of the node wait those that lag have said so; the slow ones are not waited for.
  const isLate = round !== undefined && state.nowMs - round.startedAtMs >= NODE_WAIT_MS
  if (isLate && round.standings.includes('lagging')) repin(state, item, round)
  decide(state, item)
  if (item.isOverdue && !item.isDone) lag(state, item)
}
