/** What the synchronizer measures: how long an append takes, and where the log stands. */
import type { Clock } from '@quorumscan/base'
import type { Metrics } from '@quorumscan/http'
import type { LogWriter } from '@quorumscan/log'

const MS_PER_SECOND = 1000

type Appending = Pick<LogWriter, 'append' | 'head' | 'refusal'>

/** The writer, each of whose appends is timed. */
export function measuredWriter(writer: Appending, metrics: Metrics, clock: Clock): Appending {
  const timeOf = metrics.durations({
    name: 'log_append_duration_seconds',
    help: 'Time until an entry is on disk, with the wait for its group.',
    labels: ['outcome'],
  })
  metrics.sampled('gauge', {
    name: 'log_offset',
    help: 'Newest entry that is on disk.',
    read: () => [[[], writer.head().offset]],
  })
  return {
    head: () => writer.head(),
    refusal: () => writer.refusal(),
    async append(bytes) {
      const startedMs = clock.monotonicMs()
      let outcome = 'failed'
      try {
        await writer.append(bytes)
        outcome = 'done'
      } finally {
        timeOf(outcome).observe((clock.monotonicMs() - startedMs) / MS_PER_SECOND)
      }
    },
  }
}
