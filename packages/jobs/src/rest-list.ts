/** Remembers for a while what should be left alone; bounded, and forgetting is always safe. */
import type { Clock } from '@quorumscan/base'

export type RestList = {
  rest(key: string, ms: number): void
  isResting(key: string): boolean
  /** Forgets everything: whatever is due may be added again at once. */
  clear(): void
}

/** When `sizeMax` is reached the oldest is forgotten. */
export function createRestList(clock: Clock, sizeMax: number): RestList {
  const untilByKey = new Map<string, number>()
  return {
    rest(key, ms) {
      // Deleted first, so that the map's order is that of the latest calls.
      untilByKey.delete(key)
      untilByKey.set(key, clock.monotonicMs() + ms)
      if (untilByKey.size <= sizeMax) return
      for (const oldest of untilByKey.keys()) {
        untilByKey.delete(oldest)
        break
      }
    },
    isResting(key) {
      const until = untilByKey.get(key)
      if (until === undefined) return false
      if (clock.monotonicMs() < until) return true
      untilByKey.delete(key)
      return false
    },
    clear: () => untilByKey.clear(),
  }
}
