/**
 * Whether the disk of the log has space, as its synchronizer reports. A full disk stops registrations, and operators
 * look at the node or the validator first.
 */
import { type Clock, withTimeout } from '@quorumscan/base'
import { type Metrics, pollPeers } from '@quorumscan/runtime'
import type { LogClient } from './log-client.ts'

const POLL_MS = 5000
const ANSWER_MS_MAX = 2000
const SYNCHRONIZER = { name: 'synchronizer', url: '' }

/** Requests the first report at once. */
export function watchLogDisk(options: {
  readonly log: Pick<LogClient, 'readiness'>
  readonly clock: Clock
  readonly metrics: Metrics
}) {
  const { log, clock } = options
  const poll = pollPeers({
    peers: [SYNCHRONIZER],
    clock,
    everyMs: POLL_MS,
    read: (_, signal) =>
      withTimeout({ clock, timeoutMs: ANSWER_MS_MAX, signal }, log.readiness, () => undefined),
  })
  /** Why the synchronizer is not ready; null: it is ready; undefined: not known. */
  const reason = () => {
    const last = poll.latest.get(SYNCHRONIZER.name)
    return last?.isCurrent === true ? last.value : undefined
  }
  const isFull = () => {
    const known = reason()
    return known === undefined ? null : known?.code === 'LOG_FULL'
  }
  measureLogDisk(options.metrics, isFull)
  return {
    /** The last report of its synchronizer, for the detail of `/readyz`; null while it has disk space, or does not answer. */
    detail: () => (isFull() === true ? `LOG_FULL: ${reason()?.message}` : null),
    [Symbol.asyncDispose]: poll[Symbol.asyncDispose],
  }
}

/** @param isFull - Null while it is not known. */
export function measureLogDisk(metrics: Metrics, isFull: () => boolean | null): void {
  metrics.sampled('gauge', {
    name: 'log_full',
    help: '1 while the synchronizer refuses entries that add to the state, because disk or memory are full.',
    read: () => {
      const value = isFull()
      return value === null ? [] : [[[], value ? 1 : 0]]
    },
  })
}
