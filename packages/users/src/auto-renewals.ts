/**
 * Which subscriptions their owners want renewed without being asked (D-21).
 *
 * Kept under the SubscriptionRequest's contract id, the subscription's `reference`: it is known when the
 * request is accepted, which is before there is a Subscription, and no renewal changes it.
 */
import type { ContractId, PartyId } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { reach } from './connection.ts'
import { KEYS } from './keys.ts'

/** A promise that resolved means "on disk". Every method throws DEPENDENCY_UNAVAILABLE if Redis is away. */
export interface AutoRenewals {
  set(input: {
    readonly reference: ContractId
    readonly party: PartyId
    readonly isEnabled: boolean
  }): Promise<void>
  /** In the order asked. */
  areEnabled(references: readonly ContractId[]): Promise<readonly boolean[]>
}

export function createAutoRenewals(redis: Redis): AutoRenewals {
  return {
    async set({ reference, party, isEnabled }) {
      if (isEnabled) await reach(redis.hset(KEYS.autoRenewals, reference, party))
      else await reach(redis.hdel(KEYS.autoRenewals, reference))
    },
    async areEnabled(references) {
      if (references.length === 0) return []
      const parties = await reach(redis.hmget(KEYS.autoRenewals, ...references))
      return parties.map((party) => party !== null)
    },
  }
}
