/** Decides which offsets can be read, and waits for one that is close ahead (D-10). */
import { type Clock, held, linkedController } from '@quorumscan/base'
import { isOffset, type Offset } from '@quorumscan/model'
import type { HistoryPoint } from '@quorumscan/verifier'
import type { HeadState } from '../storage/store.ts'
import type { TimelineEntry } from '../storage/timeline.ts'
import { offsetNotReached, offsetPruned } from './reads.ts'

/** D-10: how long a read waits for an offset that is close ahead. */
const PIN_WAIT_MS = 250
/** The distance of such an offset: 4 000 entries per second reach it in that time. */
const PIN_AHEAD_MAX = 1_000

/** An offset that can be read. */
export type Pinned = HistoryPoint

export function createPins(headStateOf: () => HeadState, clock: Clock) {
  const waiters = held(
    {
      owner: 'replica',
      name: 'reads that wait for an offset',
      kind: 'work',
      bound: 'requests that wait for news',
    },
    new Set<{ readonly offset: Offset; readonly wake: () => void }>(),
  )
  const headOffset = () => headStateOf().head.offset

  /** @throws {ScanError} OFFSET_NOT_REACHED, OFFSET_PRUNED. */
  const entryAt = (offset: Offset): TimelineEntry => {
    const { head, timeline } = headStateOf()
    // The timeline runs ahead of the head while a write is on its way.
    if (offset > head.offset) throw offsetNotReached(offset)
    const found = timeline.at(offset)
    if (found === undefined) throw offsetPruned(offset)
    return found
  }

  const waitFor = async (offset: Offset, signal: AbortSignal): Promise<void> => {
    if (!isOffset(offset) || offset > headOffset() + PIN_AHEAD_MAX) throw offsetNotReached(offset)
    const reached = linkedController(signal)
    const waiter = { offset, wake: () => reached.abort() }
    waiters.add(waiter)
    try {
      await clock.delay(PIN_WAIT_MS, reached.signal).catch(() => {})
      signal.throwIfAborted()
    } finally {
      reached.abort()
      waiters.delete(waiter)
    }
  }

  return {
    /**
     * The newest applied offset for null, else the offset asked for; waits up to 250 ms for one that is close ahead
     * (D-10). The server bounds how many requests wait, and its clients share it (`load-shedder.ts`).
     *
     * @throws {ScanError} OFFSET_NOT_REACHED, OFFSET_PRUNED.
     */
    async pin(at: Offset | null, signal: AbortSignal): Promise<Pinned> {
      const offset = at ?? headOffset()
      if (offset > headOffset()) await waitFor(offset, signal)
      return entryAt(offset)
    },
    /**
     * As `pin`, without waiting: null for an offset that is still ahead.
     *
     * @throws {ScanError} OFFSET_PRUNED.
     */
    pinNow(at: Offset | null): Pinned | null {
      const offset = at ?? headOffset()
      return offset > headOffset() ? null : entryAt(offset)
    },
    at: entryAt,
    /** Called when the head has moved: wakes the reads that wait for an offset up to it. */
    wake(): void {
      for (const waiter of waiters) if (waiter.offset <= headOffset()) waiter.wake()
    },
  }
}
