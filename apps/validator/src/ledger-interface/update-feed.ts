/**
 * Updates as they are applied, for any number of streams: one follower of the replica wakes them all, and
 * keeps the newest updates in memory, so that streams at the end of the ledger read nothing from Redis.
 */
import type { Micros, Offset } from '@quorumscan/model'
import type { Replica, StoredUpdate, UpdatePortion, UpdateRange } from '@quorumscan/replica'

/** Stored bytes of updates kept in memory; decoded they take some four times as much. */
const RECENT_BYTES_MAX = 4 * 1024 * 1024

/** Where the ledger ends. */
export type LedgerEnd = { readonly offset: Offset; readonly recordTime: Micros }

export type UpdateFeed = {
  end(): LedgerEnd
  /** As `Replica.updates`. */
  read(range: UpdateRange): Promise<UpdatePortion>
  /** Resolves once the ledger ends behind the offset; rejects with the signal's reason. */
  waitBehind(offset: Offset, signal: AbortSignal): Promise<void>
  close(): void
}

type Source = Pick<Replica, 'head' | 'updates' | 'onHistory'>

export function createUpdateFeed(replica: Source): UpdateFeed {
  let end: LedgerEnd = replica.head()
  // Every update after `recentAfter` up to the end, oldest first.
  let recent: StoredUpdate[] = []
  let recentAfter = end.offset
  let recentBytes = 0
  const waiting = new Set<() => void>()

  const stop = replica.onHistory((step) => {
    if (step.after !== end.offset) {
      // Loaded anew, or written by somebody else meanwhile: Redis has what lies between.
      recent = []
      recentBytes = 0
      recentAfter = step.after ?? step.head.offset
    }
    end = step.head
    for (const update of step.updates) {
      recent.push(update)
      recentBytes += update.byteLength
    }
    let dropped = 0
    while (recentBytes > RECENT_BYTES_MAX) {
      const oldest = recent[dropped++]
      if (oldest === undefined) break
      recentBytes -= oldest.byteLength
      recentAfter = oldest.offset
    }
    if (dropped > 0) recent = recent.slice(dropped)
    const woken = [...waiting]
    waiting.clear()
    for (const wake of woken) wake()
  })

  return {
    end: () => end,
    async read(range) {
      const { after, upTo, order } = range
      if (order !== 'asc' || after < recentAfter || upTo > end.offset)
        return await replica.updates(range)
      const updates = recent.filter(({ offset }) => offset > after && offset <= upTo)
      return { kind: 'updates', updates, rest: null }
    },
    waitBehind(offset, signal) {
      if (end.offset > offset) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          waiting.delete(wake)
          reject(signal.reason)
        }
        const wake = () => {
          signal.removeEventListener('abort', onAbort)
          resolve()
        }
        if (signal.aborted) return onAbort()
        signal.addEventListener('abort', onAbort, { once: true })
        waiting.add(wake)
      })
    },
    close: stop,
  }
}
