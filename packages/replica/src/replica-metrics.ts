/** Metrics of a replica, and of the protocol in force. */
import { type Clock, singleFlight } from '@quorumscan/base'
import { NEWEST_RULES, readProtocol } from '@quorumscan/ledger'
import type { Metrics } from '@quorumscan/runtime'
import type { Replica } from './replica.ts'

const MICROS_PER_SECOND = 1_000_000

/**
 * The head of a replica, how fast it applies the log, and the versions of the protocol: in force, next, and the newest
 * that the software knows.
 */
export function measureReplica(
  metrics: Metrics,
  replica: Replica,
  { clock, isLive }: { readonly clock: Clock; readonly isLive: () => boolean },
): void {
  let appliedCount = 0
  replica.onApplied(() => {
    appliedCount++
  })
  metrics.sampled('gauge', {
    name: 'replica_offset',
    help: 'Newest applied offset of the log.',
    read: () => [[[], replica.head().offset]],
  })
  metrics.sampled('gauge', {
    name: 'replica_lag_seconds',
    help: 'Age of the record time at the head by the local clock; an idle log has one at least every 10 s.',
    read: () => [[[], (clock.nowMicros() - replica.head().recordTime) / MICROS_PER_SECOND]],
  })
  metrics.sampled('gauge', {
    name: 'replica_live',
    help: '1 while the replica follows the log closely, and its state is not known to be wrong.',
    read: () => [[[], isLive() ? 1 : 0]],
  })
  metrics.sampled('counter', {
    name: 'replica_entries_total',
    help: 'Entries of the log applied since the start of the process.',
    read: () => [[[], appliedCount]],
  })
  // While a call hangs, no second call is made.
  const nameCount = singleFlight(() => replica.nameCount())
  metrics.sampled('gauge', {
    name: 'replica_names',
    help: 'Names that the replica stores, with those that ended lately.',
    read: async () => [[[], await nameCount()]],
  })
  const nameBytes = singleFlight(() => replica.nameBytes())
  metrics.sampled('gauge', {
    name: 'replica_names_bytes',
    help: 'Memory of Redis that these names take, estimated from a sample.',
    read: async () => [[[], await nameBytes()]],
  })
  metrics.sampled('gauge', {
    name: 'protocol_version',
    help: 'Versions of the protocol: the one in force, the next that was voted for, the newest that the software knows.',
    labels: ['version'],
    read: async () => {
      const { version, next } = await readProtocol(replica)
      return [
        [['held'], version],
        [['next'], next?.version ?? version],
        [['known'], NEWEST_RULES.version],
      ]
    },
  })
}
