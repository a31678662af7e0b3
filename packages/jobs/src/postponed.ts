/** Remembers what is not to be tried again for a while; bounded, and forgetting is always safe. */
import type { Clock } from '@quorumscan/base'
import { LRUCache } from 'lru-cache'

export type Postponed = {
  postpone(key: string, ms: number): void
  isPostponed(key: string): boolean
  /** Forgets everything: whatever is due may be added again at once. */
  clear(): void
}

/** When `sizeMax` is reached the oldest is forgotten. */
export function createPostponed(clock: Clock, sizeMax: number): Postponed {
  const untilByKey = new LRUCache<string, number>({ max: sizeMax })
  return {
    postpone(key, ms) {
      untilByKey.set(key, clock.monotonicMs() + ms)
    },
    // Asking does not make it younger.
    isPostponed: (key) => clock.monotonicMs() < (untilByKey.peek(key) ?? 0),
    clear: () => untilByKey.clear(),
  }
}
