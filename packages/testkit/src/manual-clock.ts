import type { Clock } from '@quorumscan/base'

export type ManualClock = Clock & {
  /** Advances both clocks and ends the delays that are due, in order. */
  advance(ms: number): Promise<void>
}

/** A clock that only `advance` moves. */
export function createManualClock(startMicros = 1_700_000_000_000_000): ManualClock {
  let elapsedMs = 0
  let sleepers: { atMs: number; wake: () => void }[] = []
  return {
    // Delays may be fractions of a millisecond, times are whole microseconds.
    nowMicros: () => startMicros + Math.floor(elapsedMs * 1000),
    monotonicMs: () => elapsedMs,
    delay: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const onAbort = () => {
          sleepers = sleepers.filter((other) => other !== sleeper)
          reject(signal?.reason)
        }
        const wake = () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        }
        const sleeper = { atMs: elapsedMs + ms, wake }
        sleepers.push(sleeper)
        signal?.addEventListener('abort', onAbort, { once: true })
      }),
    async advance(ms) {
      const until = elapsedMs + ms
      for (;;) {
        sleepers.sort((a, b) => a.atMs - b.atMs)
        const next = sleepers[0]
        if (next === undefined || next.atMs > until) break
        sleepers.shift()
        elapsedMs = Math.max(elapsedMs, next.atMs)
        next.wake()
        // Lets woken callers run, and start their next delay, before time advances.
        await new Promise((resolve) => setImmediate(resolve))
      }
      elapsedMs = until
    },
  }
}
