/**
 * Deadlines of equal length for many requests at once: one timer for all of them, because one for each, with
 * its abort signal, cost a lookup as much as reading Redis.
 */
import type { Clock } from '@quorumscan/base'

export type Deadlines = {
  /** Calls `onLate` once the time has passed, unless the returned function was called before. */
  start(onLate: () => void): () => void
}

/** Null once it has ended. */
type Waiting = { readonly dueMs: number; onLate: (() => void) | null }

export function createDeadlines(options: {
  readonly clock: Clock
  readonly ms: number
  /** Ends the timer, which would keep the process alive; nobody is told any more. */
  readonly signal: AbortSignal
}): Deadlines {
  const { clock, ms, signal } = options
  // All wait equally long, so the first one in is the first one due.
  const waiting = new Set<Waiting>()
  let isTimerSet = false

  const setTimer = (): void => {
    const [first] = waiting
    isTimerSet = first !== undefined
    if (first === undefined) return
    clock.delay(Math.max(0, first.dueMs - clock.monotonicMs()), signal).then(expire, () => {})
  }

  const expire = (): void => {
    const nowMs = clock.monotonicMs()
    for (const one of waiting) {
      if (one.dueMs > nowMs) break
      waiting.delete(one)
      one.onLate?.()
    }
    setTimer()
  }

  return {
    start(onLate) {
      const one: Waiting = { dueMs: clock.monotonicMs() + ms, onLate }
      waiting.add(one)
      if (!isTimerSet) setTimer()
      return () => {
        waiting.delete(one)
        // The tables that a set grows and shrinks out of point to what was in them, and each to the next one. Once
        // one of them has grown old, no collection of the young frees any of it: whole requests, a fifth of all memory.
        one.onLate = null
      }
    },
  }
}
