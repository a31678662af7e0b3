/**
 * Updates as they are applied, for any number of streams: one follower of the replica wakes them all, and
 * keeps the newest updates in memory, so that streams at the end of the ledger read nothing from Redis.
 */
import type { Micros, Offset } from '@quorumscan/model'
import type {
  Replica,
  StoredUpdate,
  UpdateHistory,
  UpdatePortion,
  UpdateRange,
} from '@quorumscan/replica'

/** Stored bytes of updates kept in memory; decoded they take some four times as much. */
const RECENT_BYTES_MAX = 4 * 1024 * 1024

/** Where the ledger ends. */
export type LedgerEnd = { readonly offset: Offset; readonly recordTime: Micros }

export type UpdateFeed = ReturnType<typeof createUpdateFeed>

type Source = Pick<Replica, 'head' | 'onHistory'> & {
  readonly history: Pick<UpdateHistory, 'updates'>
}

export function createUpdateFeed(replica: Source) {
  let end: LedgerEnd = replica.head()
  // Every update after `recentAfter` up to the end, oldest first.
  let recent: StoredUpdate[] = []
  let recentAfter = end.offset
  let recentBytes = 0
  let lastUpdate = end.offset
  const moved = createBell()
  const updated = createBell()

  const stop = replica.onHistory((step) => {
    const toldUpdate = lastUpdate
    if (step.after !== end.offset) {
      // Loaded anew, or written by somebody else meanwhile: Redis has what lies between.
      recent = []
      recentBytes = 0
      recentAfter = step.after ?? step.head.offset
      lastUpdate = step.head.offset
    }
    end = step.head
    lastUpdate = step.updates.at(-1)?.offset ?? lastUpdate
    for (const update of step.updates) {
      recent.push(update)
      recentBytes += update.bytes.byteLength
    }
    let dropped = 0
    while (recentBytes > RECENT_BYTES_MAX) {
      const oldest = recent[dropped++]
      if (oldest === undefined) break
      recentBytes -= oldest.bytes.byteLength
      recentAfter = oldest.offset
    }
    if (dropped > 0) recent = recent.slice(dropped)
    moved.ring()
    if (lastUpdate > toldUpdate) updated.ring()
  })

  return {
    end: () => end,
    /** As `UpdateHistory.updates`. */
    async read(range: UpdateRange): Promise<UpdatePortion> {
      const { after, upTo, order } = range
      if (order !== 'asc' || after < recentAfter || upTo > end.offset)
        return await replica.history.updates(range)
      const updates = recent.filter(({ offset }) => offset > after && offset <= upTo)
      return { kind: 'updates', updates, rest: null }
    },
    /** Resolves once the ledger ends behind the offset; rejects with the signal's reason. */
    async waitBehind(offset: Offset, signal: AbortSignal): Promise<void> {
      if (end.offset <= offset) await moved.wait(signal)
    },
    /** Behind which no update is known: at most `end`, for checkpoints and what had no effect are none. */
    lastUpdate: () => lastUpdate,
    /** Resolves once there is an update behind the offset; rejects with the signal's reason. */
    async waitForUpdate(offset: Offset, signal: AbortSignal): Promise<void> {
      if (lastUpdate <= offset) await updated.wait(signal)
    },
    close: stop,
  }
}

/** Wakes all who wait. */
function createBell(): { ring(): void; wait(signal: AbortSignal): Promise<void> } {
  const waiting = new Set<() => void>()
  return {
    ring() {
      const woken = [...waiting]
      waiting.clear()
      for (const wake of woken) wake()
    },
    wait: (signal) =>
      new Promise((resolve, reject) => {
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
      }),
  }
}
