/**
 * The subscriptions that are renewed automatically (D-21).
 *
 * Stored under the SubscriptionRequest's contract id, the subscription's `reference`: it is known when the
 * request is accepted, which is before there is a Subscription, and no renewal changes it.
 */
import type { ContractId, PartyId, UserId } from '@quorumscan/model'
import { KEYS, reach, type StoreConnection } from './connection.ts'

/** References read or forgotten at once: well under a millisecond of Redis. */
const PORTION = 500

/** A renewal is work of the user who switched it on. */
export type AutoRenewal = {
  readonly party: PartyId
  /** Null in records of earlier releases: any user who may act as the party. */
  readonly user: UserId | null
}

export type AutoRenewals = ReturnType<typeof createAutoRenewals>

/** A promise that resolved means "on disk". Every method throws DEPENDENCY_UNAVAILABLE if Redis cannot be reached. */
export function createAutoRenewals({ redis, write }: StoreConnection) {
  const find = async (references: readonly ContractId[]) => {
    if (references.length === 0) return []
    const texts = await reach(redis.hmget(KEYS.autoRenewals, ...references))
    return texts.map(decode)
  }
  return {
    /** Null: the subscription is not renewed. */
    async set(reference: ContractId, renewal: AutoRenewal | null): Promise<void> {
      if (renewal === null) await write(() => redis.hdel(KEYS.autoRenewals, reference))
      else {
        const { party, user } = renewal
        const text = JSON.stringify({ party, user })
        await write(() => redis.hset(KEYS.autoRenewals, reference, text))
      }
    },
    /** In the order of the references; null: not renewed. */
    find,
    /** The references of all that are enabled, in portions; one that changes meanwhile may be missing or come twice. */
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

function decode(text: string | null): AutoRenewal | null {
  if (text === null) return null
  // Written by `set` alone; earlier releases wrote the party.
  return text.startsWith('{') ? (JSON.parse(text) as AutoRenewal) : { party: text, user: null }
}
