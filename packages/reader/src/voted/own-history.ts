/** Asks the local replica for its history at the offsets that are read, to compare it with the nodes' (D-38). */
import { type Comparison, note, notePoint, type State } from './voted-state.ts'

/** Offsets remembered: some seconds of reading under load. */
const OFFSETS_MAX = 256
const RETRY_MS = 1000 // The local replica may reach the offset later than the nodes.
const TRIES_MAX = 20

/** Compares the replica at an offset that is about to be read. */
export function compareAt(state: State, offset: number): void {
  const { hasReplica, ownHistory } = state
  if (!hasReplica || ownHistory.has(offset)) return
  for (const [other, comparison] of ownHistory) if (isDue(state, comparison)) ask(state, other)
  const fresh = { isKnown: false, isAsking: false, tries: 0, askedAtMs: 0 }
  ownHistory.set(offset, fresh)
  const [oldest = offset] = ownHistory.keys()
  if (ownHistory.size > OFFSETS_MAX) ownHistory.delete(oldest)
  ask(state, offset)
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
export function isUncompared({ ownHistory }: State, offset: number): boolean {
  const comparison = ownHistory.get(offset)
  return comparison?.isAsking === true && comparison.tries === 1
}

function isDue({ nowMs }: State, { isKnown, isAsking, tries, askedAtMs }: Comparison): boolean {
  return !isKnown && !isAsking && tries < TRIES_MAX && nowMs - askedAtMs >= RETRY_MS
}

function ask(state: State, offset: number): void {
  const comparison = state.ownHistory.get(offset) as Comparison // Asked only of what is remembered.
  comparison.isAsking = true
  comparison.tries++
  comparison.askedAtMs = state.nowMs
  note(state, { kind: 'compare', offset })
}
