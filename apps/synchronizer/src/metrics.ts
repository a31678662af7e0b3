/** What the synchronizer measures: the time of an append, the newest offset, and the number of followers. */
import type { Clock } from '@quorumscan/base'
import type { OrderedLog } from '@quorumscan/log'
import { type Metrics, measureFailuresTolerated } from '@quorumscan/runtime'
import type { MemberSet } from '@quorumscan/verifier'
import type { EntryCounts } from './admission.ts'

const MS_PER_SECOND = 1000

type Appending = Pick<OrderedLog, 'append' | 'head' | 'refusal'>

/** Entries of anonymous clients that the state had not judged, and what refused ones cost. */
export function countEntries(metrics: Metrics): EntryCounts {
  let units = 0
  const unjudged = metrics.counted({
    name: 'entries_unjudged_total',
    help: 'Entries of clients without a token that were admitted because nodes did not judge them in time.',
  })
  metrics.sampled('counter', {
    name: 'refused_entry_units_total',
    help: 'Units that clients without a token owe for entries in the log that the state refused.',
    read: () => [[[], units]],
  })
  return {
    unjudged,
    refusedUnits(owed) {
      units += owed
    },
  }
}

/** The log, each append to which is timed. */
export function measuredLog(
  { metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock },
  options: {
    readonly log: Appending & Pick<OrderedLog, 'ordering' | 'state'>
    readonly followerCount: () => number
    /** The members that order together. */
    readonly set: Pick<MemberSet, 'n' | 'blockQuorum'>
  },
): Appending {
  const { log, followerCount, set } = options
  const timeOf = metrics.durations({
    name: 'log_append_duration_seconds',
    help: 'Time until an entry is ordered, with the wait for its group or block.',
    labels: ['outcome'],
    known: [['done'], ['failed']],
  })
  metrics.sampled('gauge', {
    name: 'log_offset',
    help: 'Offset of the newest ordered entry.',
    read: () => [[[], log.head().offset]],
  })
  metrics.sampled('gauge', {
    name: 'log_followers',
    help: 'Streams of the log that are open.',
    read: () => [[[], followerCount()]],
  })
  // A synchronizer that orders alone has no margin. Members have one as long as enough vote for blocks.
  measureFailuresTolerated(metrics, () => {
    const report = log.ordering()
    if (report === null) return []
    const margin = set.n - report.absent.length - set.blockQuorum
    // The members absent from the last block do not show the present margin.
    return [['ordering', log.state() === 'stalled' ? Math.min(margin, -1) : margin]]
  })
  return {
    head: () => log.head(),
    refusal: () => log.refusal(),
    async append(bytes, sender) {
      const startedMs = clock.monotonicMs()
      let outcome = 'failed'
      try {
        await log.append(bytes, sender)
        outcome = 'done'
      } finally {
        timeOf(outcome).observe((clock.monotonicMs() - startedMs) / MS_PER_SECOND)
      }
    },
  }
}
