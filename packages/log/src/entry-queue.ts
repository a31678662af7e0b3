/** Entries that wait for the group after the one being committed, and the bounds of both. */
import { createShares } from '@quorumscan/base'
import { groupBytesOf } from './group.ts'

type Waiting = {
  readonly bytes: Uint8Array
  /** Who submitted it. */
  readonly sender: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Four entries of the largest size; small enough to be on disk and sent to all replicas at once. */
export const GROUP_BYTES_MAX = 1024 * 1024
/** A replica applies this many within some 50 ms. */
export const GROUP_ENTRIES_MAX = 500
/** 16 groups: a second or two of work for a slow disk. A longer queue would only delay refusals. Senders share it. */
const QUEUE_BYTES_MAX = 16 * GROUP_BYTES_MAX
const QUEUE_ENTRIES_MAX = 16 * GROUP_ENTRIES_MAX

export function createEntryQueue() {
  const items: { readonly waiting: Waiting; release(): void }[] = []
  const shares = createShares('entries that wait for the log', {
    entries: QUEUE_ENTRIES_MAX,
    bytes: QUEUE_BYTES_MAX,
  })
  const take = (count: number): Waiting[] =>
    items.splice(0, count).map(({ waiting, release }) => {
      release()
      return waiting
    })
  return {
    isEmpty: () => items.length === 0,
    /** False when the queue is full, or the sender has its share of it. */
    push(waiting: Waiting): boolean {
      const { sender, bytes } = waiting
      const release = shares.take(sender, { entries: 1, bytes: bytes.byteLength })
      if (release === null) return false
      items.push({ waiting, release })
      return true
    },
    /** The oldest, as many as make one group; none from an empty queue. */
    takeGroup(): readonly Waiting[] {
      let count = 0
      let entryBytes = 0
      for (const { waiting } of items) {
        entryBytes += waiting.bytes.byteLength
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
