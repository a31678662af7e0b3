/** Whether a state of the local replica is recent. */
import { isStale } from '@quorumscan/verifier/certified'
import type { ScanProxyDeps } from './dependencies.ts'

export type OwnAge = {
  readonly ledger: Pick<ScanProxyDeps['ledger'], 'state'>
  readonly clock: Pick<ScanProxyDeps['clock'], 'nowMicros'>
}

/**
 * Whether the record time is not older than `maxAge`. A replica whose clock is behind applies nothing newer (Rule 6), and
 * by this clock its state would be recent for ever: it counts as old, so that a node is asked.
 */
export function isOwnRecent({ ledger, clock }: OwnAge, recordTime: number, maxAgeMs: number) {
  if (ledger.state() === 'clock-behind') return false
  return !isStale(recordTime, { nowMicros: clock.nowMicros(), maxAgeMs })
}
