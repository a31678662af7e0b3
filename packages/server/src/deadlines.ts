/**
 * Deadlines of many requests, with one timer for all deadlines of the same length: a timer with an abort signal for each
 * request costs as much as reading Redis. Fastify's `handlerTimeout` (5.12) is not a substitute: it ends as soon as the
 * body of a request has been read.
 */
import { afterDelay, type Clock, held } from '@quorumscan/base'

export type Deadlines = ReturnType<typeof createDeadlines>

/** Null once it has ended. */
type Waiting = { readonly dueMs: number; onLate: (() => void) | null }

/** Deadlines of the same length: they are due in the order in which they began. */
type Queue = { readonly waiting: Set<Waiting>; isTimerSet: boolean }

/** @param signal - Ends the timers, which would keep the process alive. */
export function createDeadlines(clock: Clock, signal: AbortSignal) {
  const queues = held(
    { owner: 'server', name: 'lengths of deadlines', kind: 'state', bound: 'one of each length' },
    new Map<number, Queue>(),
  )
  held(
    { owner: 'server', name: 'deadlines', kind: 'work', bound: 'one of each request in progress' },
    queues,
    countDeadlines,
  )

  const setTimer = (queue: Queue): void => {
    const [first] = queue.waiting
    queue.isTimerSet = first !== undefined
    if (first === undefined) return
    const ms = Math.max(0, first.dueMs - clock.monotonicMs())
    void afterDelay({ clock, ms, signal }, () => expire(queue)) // Unless the server is closed.
  }
  const expire = (queue: Queue): void => {
    const nowMs = clock.monotonicMs()
    for (const one of queue.waiting) {
      if (one.dueMs > nowMs) break
      queue.waiting.delete(one)
      one.onLate?.()
    }
    setTimer(queue)
  }

  return {
    /** Calls `onLate` after `ms`, unless the returned function was called before. */
    start(ms: number, onLate: () => void): () => void {
      const queue = queues.get(ms) ?? { waiting: new Set(), isTimerSet: false }
      queues.set(ms, queue)
      const one: Waiting = { dueMs: clock.monotonicMs() + ms, onLate }
      queue.waiting.add(one)
      if (!queue.isTimerSet) setTimer(queue)
      return () => {
        queue.waiting.delete(one)
        // A set's former tables refer to its former members. Once such a table is in the old generation, no collection of
        // the young generation frees them: whole requests, a fifth of all memory.
        one.onLate = null
      }
    },
  }
}

/** As `sizeOf` of `held`. */
function countDeadlines(queues: ReadonlyMap<number, Queue>): number {
  let count = 0
  for (const { waiting } of queues.values()) count += waiting.size
  return count
}
