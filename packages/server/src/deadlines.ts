/**
 * Deadlines of many requests at once, with one timer for all that last equally long: one for each, with its abort
 * signal, costs a lookup as much as reading Redis. Fastify's `handlerTimeout` (5.12) is no substitute: it ends as soon
 * as the body of a request has been read.
 */
import type { Clock } from '@quorumscan/base'

export type Deadlines = ReturnType<typeof createDeadlines>

/** Null once it has ended. */
type Waiting = { readonly dueMs: number; onLate: (() => void) | null }

/** Of those that last equally long: they are due in the order in which they began. */
type Queue = { readonly waiting: Set<Waiting>; isTimerSet: boolean }

/** @param signal - Ends the timers, which would keep the process alive. */
export function createDeadlines(clock: Clock, signal: AbortSignal) {
  const queues = new Map<number, Queue>()

  const setTimer = (queue: Queue): void => {
    const [first] = queue.waiting
    queue.isTimerSet = first !== undefined
    if (first === undefined) return
    const restMs = Math.max(0, first.dueMs - clock.monotonicMs())
    clock.delay(restMs, signal).then(
      () => expire(queue),
      () => {}, // The server is closed.
    )
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
        // A set's former tables refer to what was in them. Once one of them has grown old, no collection of the young
        // generation frees any of it: whole requests, a fifth of all memory.
        one.onLate = null
      }
    },
  }
}
