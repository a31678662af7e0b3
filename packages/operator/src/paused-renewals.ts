/** The automatic renewals that do not run, because their user may not act (D-21). */
import type { RedisAddress } from '@quorumscan/redis'
import { openRenewals } from '@quorumscan/users'
import { type PausedRenewal, pausedRenewals } from '@quorumscan/wallet'

export type PausedRenewals = {
  readonly count: number
  /** At most PAUSED_MAX of them, in the order of their references. */
  readonly some: readonly PausedRenewal[]
}

/** Enough to see which users they are of. */
export const PAUSED_MAX = 100

/**
 * Reads all renewals of a validator, whether it runs or not.
 *
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE.
 */
export async function findPausedRenewals(redis: RedisAddress): Promise<PausedRenewals> {
  const some: PausedRenewal[] = []
  let count = 0
  using store = await openRenewals(redis)
  for await (const renewal of pausedRenewals(store)) {
    count++
    if (some.length < PAUSED_MAX) some.push(renewal)
  }
  return { count, some: some.sort((a, b) => (a.reference < b.reference ? -1 : 1)) }
}
