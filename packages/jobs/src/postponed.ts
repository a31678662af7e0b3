/** Remembers what is not to be tried again for a while; bounded, and forgetting is always safe. */
import type { Clock } from '@quorumscan/base'

export type Postponed = {
  postpone(key: string, ms: number): void
  isPostponed(key: string): boolean
  /** Forgets everything: whatever is due may be added again at once. */
  clear(): void
}

/** When `sizeMax` is reached the oldest is forgotten. */
export function createPostponed(clock: Clock, sizeMax: number): Postponed {
  const untilByKey = new Map<string, number>()
  return {
    postpone(key, ms) {
      // Deleted first, so that the map's order is that of the latest calls.
      untilByKey.delete(key)
      untilByKey.set(key, clock.monotonicMs() + ms)
      if (untilByKey.size <= sizeMax) return
      for (const oldest of untilByKey.keys()) {
        untilByKey.delete(oldest)
        break
      }
    },
    isPostponed(key) {
      const until = untilByKey.get(key)
      if (until === undefined) return false
      if (clock.monotonicMs() < until) return true
      untilByKey.delete(key)
      return false
    },
    clear: () => untilByKey.clear(),
  }
}
