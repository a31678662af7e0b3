/**
 * Sends the items that wait: for a pin, or for room at enough nodes. They leave together with those that can
 * share a request, at most 256 in a batch (D-14).
 */
import { BATCH_LOOKUPS_MAX } from '@quorumscan/verifier'
import { overloaded } from '../base.ts'
import { createAsk } from './ask.ts'
import { decide, startRound } from './decide.ts'
import { firstPin } from './heads.ts'
import { type Call, type Item, isSelfPinned, roundAt } from './item.ts'
import { offer } from './lanes.ts'
import { finish, type State } from './state.ts'
import { hasRoomFor, isHopeless } from './usable.ts'

/** Of its time a lookup may wait to be sent; with the rest it is answered. */
const QUEUE_SHARE = 1 / 4

type Batch = { readonly pin: number; readonly items: Item[] }

/** Sends what can be sent. */
export function sendWaiting(state: State): void {
  // What was sent may have to be sent once more, at another pin; a third time there is not.
  for (let sentCount = 1; sentCount > 0; ) sentCount = sendReads(state) + sendLookups(state)
}

/** Returns how many were sent. */
function sendReads(state: State): number {
  const { unsent } = state
  const waiting = unsent.reads.filter((item) => !item.isDone)
  unsent.reads = []
  let sentCount = 0
  for (const item of waiting) {
    const pin = isSelfPinned(item) ? null : pinOf(state, item)
    if (pin === null && !isSelfPinned(item)) unsent.reads.push(...keep(state, [item]))
    else if (pin !== null && item.minOffset > pin) unsent.floored.push(item)
    else {
      dispatch(state, 'read', { items: [item], pin })
      sentCount++
    }
  }
  return sentCount
}

/** One batch per pin, from all kinds that have room. Returns how many were sent. */
function sendLookups(state: State): number {
  const { lookupsByKind } = state.unsent
  const batches = new Map<number, Batch>()
  for (const [kind, waiting] of lookupsByKind) {
    const rest = putIntoBatch(state, waiting, batches)
    if (rest.length === 0) lookupsByKind.delete(kind)
    else lookupsByKind.set(kind, rest)
  }
  for (const batch of batches.values()) dispatch(state, 'batch', batch)
  return batches.size
}

/** Puts items of one kind into the batch of their pin, if there is room. Returns what goes on waiting. */
function putIntoBatch(state: State, alike: readonly Item[], batches: Map<number, Batch>): Item[] {
  const waiting = alike.filter((item) => !item.isDone)
  const [first] = waiting
  if (first === undefined) return []
  const pin = pinOf(state, first)
  if (pin === null) return keep(state, waiting)
  const hasRoom = hasRoomFor(state, first)
  const rest = hasRoom ? fillBatch(state, waiting, { pin, batches }) : waiting
  return keep(state, rest.length < BATCH_LOOKUPS_MAX ? rest : refuseLate(state, rest))
}

function fillBatch(
  state: State,
  waiting: readonly Item[],
  target: { readonly pin: number; readonly batches: Map<number, Batch> },
): Item[] {
  const { pin, batches } = target
  const batch = batches.get(pin) ?? { pin, items: [] }
  let position = 0
  for (; position < waiting.length && batch.items.length < BATCH_LOOKUPS_MAX; position++) {
    const item = waiting[position] as Item
    if (item.minOffset > pin) state.unsent.floored.push(item)
    else batch.items.push(item)
  }
  if (batch.items.length > 0) batches.set(pin, batch)
  return waiting.slice(position)
}

/** A crowd cannot be served in time: who waited too long is refused while its caller still listens. */
function refuseLate(state: State, waiting: Item[]): Item[] {
  const lateMs = state.waitMs * QUEUE_SHARE
  // Who waits longest stands first.
  const position = waiting.findIndex(
    (item) => item.rounds.length > 0 || state.nowMs - item.startedAtMs <= lateMs,
  )
  const lateCount = position < 0 ? waiting.length : position
  for (const item of waiting.slice(0, lateCount)) refuse(state, item.call)
  return waiting.slice(lateCount).filter((item) => !item.isDone)
}

/** Gives a call up for want of room. */
export function refuse(state: State, call: Call): void {
  for (const item of call.items) finish(state, item)
  if (state.calls.delete(call.id))
    state.effects.push({ kind: 'done', read: call.id, outcome: overloaded() })
}

/** Those, alike, that go on waiting: who cannot be served is told so at once. */
function keep(state: State, alike: Item[]): Item[] {
  const [first] = alike
  if (first?.rounds.length !== 0 || !isHopeless(state, first)) return alike
  for (const item of alike) decide(state, item)
  return alike.filter((item) => !item.isDone)
}

function pinOf(state: State, item: Item): number | null {
  return item.nextPin ?? firstPin(state, item)
}

function dispatch(
  state: State,
  kind: 'batch' | 'read',
  { items, pin }: { readonly items: readonly Item[]; readonly pin: number | null },
): void {
  const atOffset = pin === null ? null : state.decisions.atOffset(pin)
  state.askedAtMs = state.nowMs
  for (const item of items) {
    item.nextPin = null
    if (roundAt(item, pin) === undefined) startRound(state, item, pin)
  }
  const ask = createAsk(kind, { items, pin, atOffset })
  for (const node of state.nodes) offer(state, node, ask)
  for (const item of items) decide(state, item)
}
