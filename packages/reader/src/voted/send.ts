/** Sends items once they have a pin and enough nodes have room, in batches of at most 256 (D-14). */
import { BATCH_LOOKUPS_MAX } from '@quorumscan/verifier'
import { overloaded } from '../reader-base.ts'
import { decide, startRound } from './decide.ts'
import { firstPin } from './heads.ts'
import { type Call, type Item, isSelfPinned, roundAt } from './item.ts'
import { enqueue } from './lanes.ts'
import { createRequestSpec } from './request-spec.ts'
import { cannotReachThreshold, hasRoomFor } from './usable.ts'
import { finish, type State } from './voted-state.ts'

/** Share of its time that a lookup may wait to be sent. The rest is for the answers. */
const QUEUE_SHARE = 1 / 4

type Batch = { readonly pin: number; readonly items: Item[] }

/** Sends what can be sent. */
export function sendWaiting(state: State): void {
  // An item may be sent again at another pin, but not a third time.
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
    if (pin === null && !isSelfPinned(item)) unsent.reads.push(...stillWaiting(state, [item]))
    else if (pin !== null && item.minOffset > pin) unsent.belowMinOffset.push(item)
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
  for (const [kind, waiting] of Object.entries(lookupsByKind)) {
    const rest = putIntoBatch(state, waiting, batches)
    if (rest.length === 0) delete lookupsByKind[kind]
    else lookupsByKind[kind] = rest
  }
  for (const batch of batches.values()) dispatch(state, 'batch', batch)
  return batches.size
}

/** Puts items of one kind into the batch of their pin, if there is room. Returns those that still wait. */
function putIntoBatch(state: State, alike: readonly Item[], batches: Map<number, Batch>): Item[] {
  const waiting = alike.filter((item) => !item.isDone)
  const [first] = waiting
  if (first === undefined) return []
  const pin = pinOf(state, first)
  if (pin === null) return stillWaiting(state, waiting)
  const batch = batches.get(pin) ?? { pin, items: [] }
  const roomCount = hasRoomFor(state, first) ? BATCH_LOOKUPS_MAX : 0
  let position = 0
  for (; position < waiting.length && batch.items.length < roomCount; position++) {
    const item = waiting[position] as Item
    if (item.minOffset > pin) state.unsent.belowMinOffset.push(item)
    else batch.items.push(item)
  }
  if (batch.items.length > 0) batches.set(pin, batch)
  const rest = waiting.slice(position)
  return stillWaiting(state, rest.length < BATCH_LOOKUPS_MAX ? rest : refuseLate(state, rest))
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

/** Refuses a call because there is no room. */
export function refuse(state: State, call: Call): void {
  for (const item of call.items) finish(state, item)
  if (!(call.id in state.calls)) return
  delete state.calls[call.id]
  state.effects.push({ kind: 'done', read: call.id, outcome: overloaded() })
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
  kind: 'batch' | 'read',
  { items, pin }: { readonly items: readonly Item[]; readonly pin: number | null },
): void {
  state.askedAtMs = state.nowMs
  for (const item of items) {
    item.nextPin = null
    if (roundAt(item, pin) === undefined) startRound(state, item, pin)
  }
  const spec = createRequestSpec(kind, { items, pin })
  for (const node of state.nodes) enqueue(state, node, spec)
  for (const item of items) decide(state, item)
}
