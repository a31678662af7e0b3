/**
 * Whether the log has room, as its synchronizer says: a full disk stops registrations, and operators look at the node
 * or the validator first.
 */
import { type Clock, within } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Metrics } from '@quorumscan/runtime'
import type { LogClient } from './log-client.ts'

const ROUND_MS = 5000
const ANSWER_MS_MAX = 2000

export type LogRoom = AsyncDisposable & {
  /** What its synchronizer said last, for the detail of `/readyz`; null while there is room, or no answer. */
  detail(): string | null
}

/** Begins to ask at once. */
export function watchLogRoom(options: {
  readonly log: Pick<LogClient, 'readiness'>
  readonly clock: Clock
  readonly metrics: Metrics
}): LogRoom {
  const { log, clock } = options
  const closing = new AbortController()
  const { signal } = closing
  /** Null: not known. */
  let isFull: boolean | null = null
  let detail: string | null = null

  const ask = async (): Promise<void> => {
    const reason = await within(
      { clock, timeoutMs: ANSWER_MS_MAX, signal },
      (limit) => log.readiness(limit),
      () => {
        throw new ScanError('DEPENDENCY_UNAVAILABLE', 'the synchronizer does not answer')
      },
    )
    isFull = reason?.code === 'LOG_FULL'
    detail = isFull && reason !== null ? `LOG_FULL: ${reason.message}` : null
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await ask().catch(() => {
        isFull = null
        detail = null
      })
      await clock.delay(ROUND_MS, signal).catch(() => {}) // Closing: the loop ends.
    }
  }
  const running = run()
  measureLogRoom(options.metrics, () => isFull)
  return {
    detail: () => detail,
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('closed'))
      await running
    },
  }
}

/** @param isFull - Null while it is not known. */
export function measureLogRoom(metrics: Metrics, isFull: () => boolean | null): void {
  metrics.sampled('gauge', {
    name: 'log_full',
    help: '1 while the synchronizer takes nothing because the disk of the log is full.',
    read: () => {
      const value = isFull()
      return value === null ? [] : [[[], value ? 1 : 0]]
    },
  })
}
