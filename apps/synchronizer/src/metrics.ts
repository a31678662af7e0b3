/** What the synchronizer measures: how long an append takes, where the log stands, and how many follow it. */
import type { Clock } from '@quorumscan/base'
import type { Metrics } from '@quorumscan/http'
import type { OrderedLog } from './ordered-log.ts'

const MS_PER_SECOND = 1000

type Appending = Pick<OrderedLog, 'append' | 'head' | 'refusal'>

/** The log, each append to which is timed. */
export function measuredLog(
  log: Appending,
  options: {
    readonly metrics: Metrics
    readonly followerCount: () => number
    readonly clock: Clock
  },
): Appending {
  const { metrics, clock } = options
  const timeOf = metrics.durations({
    name: 'log_append_duration_seconds',
    help: 'Time until an entry is on disk, with the wait for its group.',
    labels: ['outcome'],
  })
  metrics.sampled('gauge', {
    name: 'log_offset',
    help: 'Newest entry that is on disk.',
    read: () => [[[], log.head().offset]],
  })
  metrics.sampled('gauge', {
    name: 'log_followers',
    help: 'Streams of the log that are open.',
    read: () => [[[], options.followerCount()]],
  })
  return {
    head: () => log.head(),
    refusal: () => log.refusal(),
    async append(bytes) {
      const startedMs = clock.monotonicMs()
      let outcome = 'failed'
      try {
        await log.append(bytes)
        outcome = 'done'
      } finally {
        timeOf(outcome).observe((clock.monotonicMs() - startedMs) / MS_PER_SECOND)
      }
    },
  }
}
