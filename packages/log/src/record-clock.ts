import type { Clock } from '@quorumscan/base'
import type { Micros } from '@quorumscan/model'

/**
 * Record times: the wall clock, but always above `after` and above the time given last. A clock that
 * was set back stands still here (it goes on by 1 µs an entry) until it is caught up with.
 */
export function createRecordClock(clock: Clock, after: Micros): () => Micros {
  let last = after
  return () => {
    last = Math.max(last + 1, Math.floor(clock.nowMicros()))
    return last
  }
}
