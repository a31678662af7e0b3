/**
 * The owners of parties, and the annotations of administrators. A party that was allocated for one user, or by an
 * administrator, is never given to another user who registers later with a fitting name.
 */
import { isDeepStrictEqual } from 'node:util'
import { ScanError } from '@quorumscan/errors'
import type { PartyId, UserId } from '@quorumscan/model'
import { KEYS, reach, type StoreConnection } from './connection.ts'
import { REPLACE_FIELD } from './scripts.ts'

type Annotations = Readonly<Record<string, string>>

/** What administrators noted about a party. */
export type PartyDetails = {
  readonly annotations: Annotations
  /** How often it was changed. */
  readonly version: number
}

const NO_DETAILS: PartyDetails = { annotations: {}, version: 0 }
/** Concurrent writers of one party. Normal use has fewer. */
const ATTEMPTS_MAX = 16

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
    /**
     * Replaces the annotations by what `change` makes of the current ones, and counts the version; `change` may run
     * several times.
     */
    async update(party: PartyId, change: (details: PartyDetails) => PartyDetails): Promise<void> {
      const key = KEYS.partyAnnotations
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        const text = await reach(redis.hget(key, party))
        const current = decode(text)
        const { annotations } = change(current)
        if (isDeepStrictEqual(annotations, current.annotations)) return
        const next = JSON.stringify({ annotations, version: current.version + 1 })
        const reply = await write(() => redis.eval(REPLACE_FIELD, 1, key, party, text ?? '', next))
        if (reply === 1) return
      }
      throw new ScanError('OVERLOADED', 'The party is being changed by too many requests at once.')
    },
    /** In the order of the parties. */
    async details(parties: readonly PartyId[]): Promise<readonly PartyDetails[]> {
      if (parties.length === 0) return []
      return (await reach(redis.hmget(KEYS.partyAnnotations, ...parties))).map(decode)
    },
  }
}

function decode(text: string | null): PartyDetails {
  if (text === null) return NO_DETAILS
  // Written by `update` alone; earlier releases wrote the annotations, which are texts.
  const value = JSON.parse(text) as PartyDetails | Annotations
  return typeof value.version === 'number'
    ? (value as PartyDetails)
    : { annotations: value as Annotations, version: 0 }
}
