/** How long a job waits before it is tried again. */
import { backoffMs, type Random } from '@quorumscan/base'

/** Tries of one job before it is dropped. The sweep adds it anew if it is still due then. */
export const ATTEMPTS_MAX = 8

/** The first wait: a few checkpoints, so that a replica that lags has caught up. */
const DELAY_MS_MIN = 250

/** The longest wait: well below the shortest payment lock in use (15 s with rounds of 5 s). */
const DELAY_MS_MAX = 5_000

/** Half of it is random: members that failed together do not come back together. `attempt` from 1. */
export function retryDelayMs(attempt: number, random: Random): number {
  const bounds = { minMs: DELAY_MS_MIN, maxMs: DELAY_MS_MAX, random: () => random.fraction() }
  return Math.floor(backoffMs(attempt, bounds))
}
