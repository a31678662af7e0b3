/**
 * The owners of parties, and the annotations of administrators. A party that was allocated for one user, or by an
 * administrator, is never given to another user who registers later with a fitting name.
 */
import type { PartyId, UserId } from '@quorumscan/model'
import { KEYS, reach, type StoreConnection } from './connection.ts'

type Annotations = Readonly<Record<string, string>>

export type Parties = ReturnType<typeof createParties>

/** A promise that resolved means "on disk". Every method throws DEPENDENCY_UNAVAILABLE if Redis cannot be reached. */
export function createParties({ redis, write }: StoreConnection) {
  return {
    /**
     * Stores for which user a party is about to be allocated, '' for no particular one, unless an owner is stored
     * already. Called before every allocation, so that of two concurrent ones the second learns of the first.
     *
     * @returns The stored owner.
     */
    async claim(party: PartyId, owner: UserId | ''): Promise<UserId | ''> {
      await write(() => redis.hsetnx(KEYS.partyOwners, party, owner))
      return (await reach(redis.hget(KEYS.partyOwners, party))) ?? owner
    },
    /** The stored owner, '' for no particular one; null if none is stored. */
    owner: (party: PartyId): Promise<UserId | '' | null> =>
      reach(redis.hget(KEYS.partyOwners, party)),
    async annotate(party: PartyId, annotations: Annotations): Promise<void> {
      const text = JSON.stringify(annotations)
      await write(() => redis.hset(KEYS.partyAnnotations, party, text))
    },
    /** The annotations in the order of the parties. */
    async annotations(parties: readonly PartyId[]): Promise<readonly Annotations[]> {
      if (parties.length === 0) return []
      const texts = await reach(redis.hmget(KEYS.partyAnnotations, ...parties))
      // Written by `annotate` alone.
      return texts.map((text) => (text === null ? {} : (JSON.parse(text) as Annotations)))
    },
  }
}
