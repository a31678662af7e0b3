/**
 * The subscriptions that are renewed automatically (D-21).
 *
 * Stored under the SubscriptionRequest's contract id, the subscription's `reference`: it is known when the
 * request is accepted, which is before there is a Subscription, and no renewal changes it.
 */
import type { ContractId, PartyId } from '@quorumscan/model'
import { KEYS, reach, type StoreConnection } from './connection.ts'

/** References read or forgotten at once: well under a millisecond of Redis. */
const PORTION = 500

type Preference = {
  readonly reference: ContractId
  readonly party: PartyId
  readonly isEnabled: boolean
}

export type AutoRenewals = ReturnType<typeof createAutoRenewals>

/** A promise that resolved means "on disk". Every method throws DEPENDENCY_UNAVAILABLE if Redis cannot be reached. */
export function createAutoRenewals({ redis, write }: StoreConnection) {
  return {
    async set({ reference, party, isEnabled }: Preference): Promise<void> {
      if (isEnabled) await write(() => redis.hset(KEYS.autoRenewals, reference, party))
      else await write(() => redis.hdel(KEYS.autoRenewals, reference))
    },
    /** The preferences in the order of the references. */
    async areEnabled(references: readonly ContractId[]): Promise<readonly boolean[]> {
      if (references.length === 0) return []
      const parties = await reach(redis.hmget(KEYS.autoRenewals, ...references))
      return parties.map((party) => party !== null)
    },
    /** All that are enabled, in portions; one that changes meanwhile may be missing or come twice. */
    async *portions(): AsyncIterable<readonly ContractId[]> {
      let cursor = '0'
      do {
        const [next, flat] = await reach(redis.hscan(KEYS.autoRenewals, cursor, 'COUNT', PORTION))
        // Field and value alternate. A small hash comes whole, for any COUNT.
        const references = flat.filter((_, index) => index % 2 === 0)
        for (let i = 0; i < references.length; i += PORTION) yield references.slice(i, i + PORTION)
        cursor = next
      } while (cursor !== '0')
    },
    /** Deletes the preferences of subscriptions that ended. */
    async forget(references: readonly ContractId[]): Promise<void> {
      if (references.length === 0) return
      await write(() => redis.hdel(KEYS.autoRenewals, ...references))
    },
  }
}
