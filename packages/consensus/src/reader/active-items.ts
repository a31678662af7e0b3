/** The items that somebody waits for. */
import type { Item } from './item.ts'

export type ActiveItems = {
  readonly all: ReadonlySet<Item>
  /** Of the answers that one node may send to all pages and activities. */
  readBytesMax(): number
  /** When an item was last finished, ms; -Infinity before the first. */
  finishedAtMs(): number
  add(item: Item): void
  /** From here on nothing is decided about it. */
  finish(item: Item): void
}

export function createActiveItems(monotonicMs: () => number): ActiveItems {
  const all = new Set<Item>()
  let readBytesMax = 0
  let finishedAtMs = Number.NEGATIVE_INFINITY
  return {
    all,
    readBytesMax: () => readBytesMax,
    finishedAtMs: () => finishedAtMs,
    add(item) {
      all.add(item)
      if (item.asked.kind === 'read') readBytesMax += item.asked.request.bytesMax
    },
    finish(item) {
      item.isDone = true
      finishedAtMs = monotonicMs()
      if (all.delete(item) && item.asked.kind === 'read')
        readBytesMax -= item.asked.request.bytesMax
    },
  }
}
