/**
 * Items that wait to be sent: for a pin, or for room at enough nodes. They leave together with those
 * that can share a request, at most 256 in a batch (D-14).
 */
import { BATCH_LOOKUPS_MAX } from '../answers/batch.ts'
import { type Item, isSelfPinned } from './item.ts'
import { overloaded } from './reader-options.ts'

export type UnsentItems = {
  add(item: Item): void
  /** Sends what can be sent; returns what goes on waiting. */
  send(): Item[]
  /** Items whose `minOffset` no pin reaches yet, handed back to be tried again. */
  takeFloored(): Item[]
}

export function createUnsentItems(options: {
  readonly pinOf: (item: Item) => number | null
  readonly hasRoom: (item: Item) => boolean
  /** Whether the item has waited so long for room that it would be answered too late. */
  readonly isTooLate: (item: Item) => boolean
  readonly sendBatch: (items: readonly Item[], pin: number) => void
  readonly sendRead: (item: Item, pin: number | null) => void
}): UnsentItems {
  let reads: Item[] = []
  // Those alike in what decides pin and room are tried once for all.
  const lookupsByKind = new Map<string, Item[]>()
  let floored: Item[] = []

  const sendReads = (): void => {
    const waiting = reads
    reads = []
    for (const item of waiting) {
      if (item.isDone) continue
      const pin = isSelfPinned(item) ? null : (item.nextPin ?? options.pinOf(item))
      if (pin === null && !isSelfPinned(item)) reads.push(item)
      else if (pin !== null && item.minOffset > pin) floored.push(item)
      else options.sendRead(item, pin)
    }
  }

  /** One batch per pin, from all kinds that have room. Returns whether there may be more to send. */
  const sendBatches = (): boolean => {
    const batches = new Map<string, { pin: number; items: Item[] }>()
    for (const [kind, waiting] of lookupsByKind) {
      const open = waiting.filter((item) => !item.isDone)
      const first = open[0]
      const pin = first && (first.nextPin ?? options.pinOf(first))
      const isPinned = first !== undefined && typeof pin === 'number'
      const rest = isPinned && options.hasRoom(first) ? fillBatch(open, { pin, batches }) : open
      // A crowd cannot be served in time: who waited too long is refused while its caller still listens.
      if (isPinned && rest.length >= BATCH_LOOKUPS_MAX)
        for (const item of rest)
          if (item.rounds.length === 0 && options.isTooLate(item)) item.fail(overloaded())
      if (rest.length === 0) lookupsByKind.delete(kind)
      else lookupsByKind.set(kind, rest)
    }
    let isFull = false
    for (const { pin, items } of batches.values()) {
      isFull ||= items.length === BATCH_LOOKUPS_MAX
      if (items.length > 0) options.sendBatch(items, pin)
    }
    return isFull
  }

  /** Puts items into the batch of the pin; returns those that did not fit. */
  const fillBatch = (
    open: readonly Item[],
    target: { readonly pin: number; readonly batches: Map<string, { pin: number; items: Item[] }> },
  ): Item[] => {
    const { pin, batches } = target
    const key = `${pin} ${open[0]?.sign}`
    const batch = batches.get(key) ?? { pin, items: [] }
    batches.set(key, batch)
    let position = 0
    for (; position < open.length && batch.items.length < BATCH_LOOKUPS_MAX; position++) {
      const item = open[position] as Item
      if (item.minOffset > pin) floored.push(item)
      else batch.items.push(item)
    }
    return open.slice(position)
  }

  return {
    add(item) {
      if (item.asked.kind === 'read') {
        reads.push(item)
        return
      }
      const kind = `${item.nextPin} ${item.threshold} ${item.sign}`
      const waiting = lookupsByKind.get(kind)
      if (waiting === undefined) lookupsByKind.set(kind, [item])
      else waiting.push(item)
    },
    send() {
      if (reads.length > 0) sendReads()
      while (sendBatches()) {
        // A batch was full: the next takes those that did not fit.
      }
      return [...reads, ...[...lookupsByKind.values()].flat()]
    },
    takeFloored() {
      const items = floored.filter((item) => !item.isDone)
      floored = []
      return items
    },
  }
}
