/** How often a member is polled: as often as it has something new, whatever a Byzantine one answers. */
import { backoffMs, type Clock } from '@quorumscan/base'
import { STATES_KEPT } from '@quorumscan/verifier/certified'

/** A poll that finds nothing ends after this long, well before any handler must have answered. */
export const STATEMENTS_WAIT_MS = 5000
/** Between polls of a member that does not answer. */
const RETRY_MS = 500
/** After answers in a row without a newer statement. An honest member lets such a poll wait that long by itself. */
const STALE = { minMs: 500, maxMs: STATEMENTS_WAIT_MS }
/** A member signs some five to ten states a second, and may send all that it keeps at once. */
const CHECKS_PER_SECOND = 32
const CHECKS_AT_ONCE = STATES_KEPT

export type Poll = {
  /** `monotonicMs` of the request. */
  readonly startedMs: number
  /** Signatures that were verified for it. */
  readonly checkCount: number
  /** `stale`: without a statement newer than those that were asked for. */
  readonly outcome: 'newer' | 'stale' | 'failed'
}

/** Of one member. */
export type PollPace = {
  /** How long to wait before the next poll, ms. The back-off counts from the start of the last one. */
  pauseMs(poll: Poll): number
}

export function createPollPace(clock: Pick<Clock, 'monotonicMs'>): PollPace {
  let staleCount = 0
  /** By then `CHECKS_PER_SECOND` allows all signatures that were verified. */
  let allowedAtMs = Number.NEGATIVE_INFINITY

  const backOffMs = (outcome: Poll['outcome']): number => {
    if (outcome === 'failed') return RETRY_MS
    staleCount = outcome === 'stale' ? staleCount + 1 : 0
    return staleCount === 0 ? 0 : backoffMs(staleCount, STALE)
  }

  return {
    pauseMs({ startedMs, checkCount, outcome }) {
      const nowMs = clock.monotonicMs()
      allowedAtMs = Math.max(allowedAtMs, nowMs) + msOfChecks(checkCount)
      const notBeforeMs = Math.max(
        startedMs + backOffMs(outcome),
        allowedAtMs - msOfChecks(CHECKS_AT_ONCE),
      )
      return Math.max(0, notBeforeMs - nowMs)
    },
  }
}

const msOfChecks = (count: number) => (count * 1000) / CHECKS_PER_SECOND
