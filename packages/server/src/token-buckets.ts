/**
 * Token buckets by client (D-33). Libraries count requests in windows; these buckets count units of work, some of which
 * are known only when the body has been read.
 *
 * A bucket holds the units of one second, or of `burstSeconds`. A request whose cost exceeds the balance is served on credit, once, and
 * the client waits for the rest. So a request that costs more than a bucket holds can be served, and the debt is at
 * most the cost of the most expensive request. Work whose size is not known before is taken after it was done.
 */
import { type Clock, held } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import { LRUCache } from 'lru-cache'

/** 100 bytes each: 10 MiB at most (D-33). As `max`, the cache would allocate space for all of them at once. */
const BUCKETS_MAX = 100_000
const MS_PER_SECOND = 1000

export type RateBudget = {
  /** Takes `units`, at most what a bucket holds. @throws {ScanError} RATE_LIMITED if the bucket holds less. */
  spend(client: string, units: number): void
  /** Takes the rest of an admitted request. @throws {ScanError} RATE_LIMITED if in debt already. */
  charge(client: string, units: number): void
  /** Takes units of work that was done. It refuses nothing: the next requests wait until the debt is paid. */
  settle(client: string, units: number): void
}

export const unlimitedRateBudget: RateBudget = {
  spend: () => {},
  charge: () => {},
  settle: () => {},
}

export function createRateBudget(options: {
  /** The rate of each client; a function if it changes. */
  readonly unitsPerSecond: number | (() => number)
  /** A bucket holds the units of so many seconds. Default: 1. */
  readonly burstSeconds?: number
  readonly clock: Clock
  readonly bucketsMax?: number
}): RateBudget {
  const { unitsPerSecond: rate, burstSeconds = 1, clock, bucketsMax = BUCKETS_MAX } = options
  const rateOf = typeof rate === 'number' ? () => rate : rate
  const buckets = held(
    { owner: 'server', name: 'clients with rate budgets', kind: 'cache', bound: bucketsMax },
    new LRUCache<string, { balance: number; atMs: number }>({
      maxSize: bucketsMax,
      sizeCalculation: () => 1,
    }),
  )

  const debit = (client: string, units: number, unitsMin: number) => {
    const unitsPerSecond = rateOf()
    const capacity = Math.max(1, burstSeconds * unitsPerSecond)
    const nowMs = clock.monotonicMs()
    let bucket = buckets.get(client)
    if (bucket === undefined) {
      bucket = { balance: capacity, atMs: nowMs }
      buckets.set(client, bucket)
    }
    const refill = ((nowMs - bucket.atMs) / MS_PER_SECOND) * unitsPerSecond
    bucket.balance = Math.min(capacity, bucket.balance + refill)
    bucket.atMs = nowMs
    const balanceMin = Math.min(unitsMin, capacity)
    if (bucket.balance < balanceMin)
      throw new ScanError('RATE_LIMITED', 'too much work requested; try again in a moment', {
        retryAfterSeconds: Math.max(1, Math.ceil((balanceMin - bucket.balance) / unitsPerSecond)),
      })
    bucket.balance -= units
  }

  return {
    spend: (client, units) => debit(client, units, units),
    charge: (client, units) => debit(client, units, 0),
    settle: (client, units) => debit(client, units, Number.NEGATIVE_INFINITY),
  }
}
