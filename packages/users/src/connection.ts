/** The validator's own Redis: every key in it, and the connection, opened only where it keeps what it acknowledges. */
import { ScanError } from '@quorumscan/errors'
import {
  assertProfile,
  openCheckedRedis,
  type RedisAddress,
  reaching,
  usesSentinels,
} from '@quorumscan/redis'
import type { Redis } from 'ioredis'

/**
 * Every Redis key of this package. They live apart from the replica's keys, because a wiped replica is
 * rebuilt from the log and these are in no log (Rule 3). No key has a TTL.
 */
export const KEYS = {
  /** hash: user id -> canonical JSON of the user with its rights */
  records: '{users}:records',
  /** sorted set, score 0: user ids, for pages in byte order */
  ids: '{users}:ids',
  /** hash: user id -> '' of each user that was deleted and not made again: it cannot register */
  deleted: '{users}:deleted',
  /** hash: party -> user for whom it was allocated, '' for no particular one */
  partyOwners: '{users}:party-owners',
  /** hash: party -> JSON of its annotations */
  partyAnnotations: '{users}:party-annotations',
  /** hash: entry hash -> JSON of a submission whose outcome is not known yet */
  pending: '{users}:pending',
  /** hash: change id -> entry hash of its pending submission */
  inFlight: '{users}:in-flight',
  /** sorted set, score 0: offset (8 bytes) ‖ JSON of the completion of a submission that expired */
  expired: '{users}:expired',
  /** hash: contract id of a SubscriptionRequest -> JSON of the user who wants its subscription renewed, with the party */
  autoRenewals: '{users}:auto-renewals',
  /** hash: change id -> JSON of the first effect of a payment */
  payments: '{users}:payments',
  /** sorted set, score 0: record time until which it is kept (8 bytes) ‖ change id (64 hex digits) ‖ user id */
  paymentExpiries: '{users}:payment-expiries',
  /** hash: user id -> number of its payments above */
  paymentCounts: '{users}:payment-counts',
  /** hash: genesis hash -> JSON of the position in the log up to which payments are recorded */
  paymentsReached: '{users}:payments-reached',
  /** hash: genesis hash -> participant key of the users; missing: the users are lost */
  identity: '{users}:identity',
  /** hash: genesis hash -> highest offset that the proxy's reader verified */
  floors: '{users}:floors',
  /** hash: genesis hash -> JSON of the last known address records */
  addresses: '{users}:addresses',
  /** hash: genesis hash -> JSON of the evidence that the proxy came across */
  evidence: '{users}:evidence',
} as const

/** A working Redis replica has a write within milliseconds. Later writes wait for this one. */
const COPY_MS_MAX = 1_000

export type StoreConnection = Disposable & {
  readonly redis: Redis
  /**
   * Sends a write at once. Resolves when it is on disk and, with sentinels, when at least one Redis replica has it.
   *
   * @throws {ScanError} DEPENDENCY_UNAVAILABLE: it may or may not have happened.
   */
  write<T>(send: () => Promise<T>): Promise<T>
}

/**
 * Connects and checks the settings.
 *
 * @param onUnchecked - Receives a sentence that names the settings which Redis does not allow to check.
 * @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis cannot be reached, or could lose or evict what it
 *   acknowledged; the message names the setting.
 */
export async function openConnection(
  address: RedisAddress,
  onUnchecked?: (sentence: string) => void,
): Promise<StoreConnection> {
  const redis = await openCheckedRedis(address, 'users', {
    reach,
    ...(onUnchecked && { onUnchecked }),
  })
  let checking: Promise<unknown> = Promise.resolve()
  // After a reconnection, Redis may have other settings, or be another server.
  redis.on('ready', () => {
    checking = assertProfile(redis, 'users')
    checking.catch(() => {}) // Each write reports it.
  })
  const needsCopy = usesSentinels(address)
  return {
    redis,
    [Symbol.dispose]: () => redis.disconnect(),
    async write(send) {
      await checking
      const sent = reach(send())
      if (!needsCopy) return await sent
      // Sent together: on another connection, WAIT would not cover this write.
      const [result, copyCount] = await Promise.all([sent, reach(redis.wait(1, COPY_MS_MAX))])
      if (copyCount === 0)
        throw new ScanError(
          'DEPENDENCY_UNAVAILABLE',
          'No Redis replica of the user store confirmed the change: a failover may lose it.',
        )
      return result
    },
  }
}

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if the command failed: a write may or may not have happened. */
export const reach = reaching('The user store cannot be reached.')
