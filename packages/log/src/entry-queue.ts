/** Entries that wait for the group after the one being committed, and the bounds of both. */
import { groupBytesOf } from './group.ts'

type Waiting = {
  readonly bytes: Uint8Array
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Four entries of the largest size; small enough to be on disk and sent to all replicas at once. */
export const GROUP_BYTES_MAX = 1024 * 1024
/** A replica applies this many within some 50 ms. */
export const GROUP_ENTRIES_MAX = 500
/** 16 groups: a second or two of work for a slow disk. A longer queue would only delay refusals. */
const QUEUE_BYTES_MAX = 16 * GROUP_BYTES_MAX
const QUEUE_ENTRIES_MAX = 16 * GROUP_ENTRIES_MAX

export function createEntryQueue() {
  const items: Waiting[] = []
  let bytes = 0
  const take = (count: number): Waiting[] => {
    const taken = items.splice(0, count)
    for (const item of taken) bytes -= item.bytes.byteLength
    return taken
  }
  return {
    isEmpty: () => items.length === 0,
    /** False when the queue is full. */
    push(waiting: Waiting): boolean {
      if (items.length >= QUEUE_ENTRIES_MAX || bytes + waiting.bytes.byteLength > QUEUE_BYTES_MAX)
        return false
      items.push(waiting)
      bytes += waiting.bytes.byteLength
      return true
    },
    /** The oldest, as many as make one group; none from an empty queue. */
    takeGroup(): readonly Waiting[] {
      let count = 0
      let entryBytes = 0
      for (const item of items) {
        entryBytes += item.bytes.byteLength
        if (count === GROUP_ENTRIES_MAX || groupBytesOf(entryBytes, count + 1) > GROUP_BYTES_MAX)
          break
        count++
      }
      return take(count)
    },
    takeAll: () => take(items.length),
  }
}

/** Whether an entry fits into a group at all. */
export function fitsIntoGroup(entry: Uint8Array): boolean {
  return groupBytesOf(entry.byteLength, 1) <= GROUP_BYTES_MAX
}
