/** Taking questions in: what is refused before anything is asked, and what a pause makes out of date. */
import { PROBE } from './ask.ts'
import { createItem, type Read } from './item.ts'
import { forgive, offer, pump } from './lanes.ts'
import { isFailing } from './node.ts'
import { refuse } from './send.ts'
import { bytesMaxOf, type State, wait } from './state.ts'

/** A reader that has asked nobody for so long does not know the heads (D-37). */
const IDLE_MS = 1000
/** Lookups waiting in one reader: so many it has in memory. */
const ITEMS_WAITING_MAX = 20_000
/** Of the answers to pages and activities waiting: so much a lying node can make us hold. */
const READ_BYTES_WAITING_MAX = 64 * 1024 * 1024

/** Takes questions in, each as a whole or not at all. */
export function takeQuestions(state: State, questions: readonly (readonly Read[])[]): void {
  wake(state)
  for (const reads of questions) {
    const bytesMax = reads.reduce((sum, read) => sum + bytesMaxOf(read), 0)
    const isFull =
      state.items.size + reads.length > ITEMS_WAITING_MAX ||
      (bytesMax > 0 && state.readBytesMax + bytesMax > READ_BYTES_WAITING_MAX)
    state.readBytesMax += isFull ? 0 : bytesMax
    for (const read of reads) {
      if (isFull) refuse(state, read)
      else takeIn(state, read)
    }
  }
}

function takeIn(state: State, read: Read): void {
  const { nowMs } = state
  const item = createItem(read, { startedAtMs: nowMs, endsAtMs: nowMs + state.waitMs })
  state.items.set(item.id, item)
  wait(state, item)
}

/** Starts learning addresses and, after a pause, heads. */
function wake(state: State): void {
  const { nowMs } = state
  // What was known of failures is too old; while somebody waited, it was kept up to date.
  if (state.items.size === 0 && nowMs - state.finishedAtMs > IDLE_MS) forgive(state)
  if (nowMs - state.askedAtMs > IDLE_MS) {
    state.headsSinceMs = nowMs
    probeAll(state)
  }
  keepLearning(state)
}

/** Asks every node for its head. */
export function probeAll(state: State): void {
  state.askedAtMs = state.nowMs
  for (const node of state.nodes) offer(state, node, PROBE)
}

/** Keeps addresses and failing nodes under observation. */
export function keepLearning(state: State): void {
  const isUneasy = state.nodes.some(({ url, lanes }) => url === null || isFailing(lanes.lookup))
  state.effects.push({ kind: 'learn', isUneasy })
  for (const node of state.nodes) pump(state, node)
}
