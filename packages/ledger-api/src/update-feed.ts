/**
 * Updates as the replica applies them, for any number of streams. One listener wakes all streams and keeps the newest
 * updates in memory, so that streams at the ledger end read nothing from Redis.
 */
import { held } from '@quorumscan/base'
import type { LogPosition, Offset } from '@quorumscan/model'
import type { Replica, StoredUpdate, UpdateHistory, UpdateRange } from '@quorumscan/replica'

/** Stored bytes of updates kept in memory. Decoded updates take some four times as much. */
const RECENT_BYTES_MAX = 4 * 1024 * 1024

export type UpdateFeed = ReturnType<typeof createUpdateFeed>

type Source = Pick<Replica, 'head' | 'onHistory'> & {
  readonly history: Pick<UpdateHistory, 'updates'>
}

export function createUpdateFeed(replica: Source) {
  /** The ledger end. */
  let end: LogPosition = replica.head()
  // Every update after `recentAfter` up to the end, oldest first.
  let recent: StoredUpdate[] = []
  let recentAfter = end.offset
  let recentBytes = 0
  let lastUpdate = end.offset
  const endChange = createNotifier()
  const updateChange = createNotifier()

  const stop = replica.onHistory((step) => {
    const previousUpdate = lastUpdate
    if (step.after !== end.offset) {
      // The state was loaded again, or another process wrote it: Redis has the updates in between.
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
    endChange.notify()
    if (lastUpdate > previousUpdate) updateChange.notify()
  })

  return {
    end: () => end,
    /** As `UpdateHistory.updates`. */
    async read(range: UpdateRange) {
      const { after, upTo, order } = range
      if (order !== 'asc' || after < recentAfter || upTo > end.offset)
        return await replica.history.updates(range)
      const updates = recent.filter(({ offset }) => offset > after && offset <= upTo)
      return { kind: 'updates', updates, rest: null } as const
    },
    /** Resolves once the ledger end is after the offset; never, if the signal aborts before. */
    async waitForEntry(offset: Offset, signal: AbortSignal): Promise<void> {
      if (end.offset <= offset) await endChange.next(signal)
    },
    /** The offset of the newest update, at most `end`: checkpoints and entries without effect are not updates. */
    lastUpdate: () => lastUpdate,
    /** Resolves once an update exists after the offset; never, if the signal aborts before. */
    async waitForUpdate(offset: Offset, signal: AbortSignal): Promise<void> {
      if (lastUpdate <= offset) await updateChange.next(signal)
    },
    close: stop,
  }
}

/** Wakes any number of streams in time proportional to their number, unlike `EventEmitter`. */
function createNotifier() {
  const waiting = held(
    {
      owner: 'ledger-api',
      name: 'streams that wait for updates',
      kind: 'work',
      bound: 'those of the WebSockets of /v2',
    },
    new Set<() => void>(),
  )
  return {
    notify(): void {
      for (const resolve of waiting) resolve()
      waiting.clear()
    },
    /** Resolves at the next call of `notify`; never, if the signal aborts before. */
    next: (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (!signal.aborted) waiting.add(resolve)
        signal.addEventListener('abort', () => waiting.delete(resolve), { once: true })
      }),
  }
}
