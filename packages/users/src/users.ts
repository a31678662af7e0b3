/** Users and their rights. Each is one record, replaced as a whole or not at all. */
import { ScanError } from '@quorumscan/errors'
import type { Right, User, UserId } from '@quorumscan/model'
import { KEYS, reach, type StoreConnection } from './connection.ts'
import { REPLACE_RECORD } from './scripts.ts'

export type UserRecord = {
  readonly user: User
  readonly rights: readonly Right[]
  /** How often `user` was changed; absent: never. */
  readonly version?: number
}

/** As upstream's participant: keeps a record small enough to read at every request. */
export const RIGHTS_PER_USER_MAX = 1000
/** Concurrent writers of one record. Normal use has fewer. */
const ATTEMPTS_MAX = 16

type Page = { readonly after: UserId; readonly limit: number }

export type Users = ReturnType<typeof createUsers>

/** A promise that resolved means "on disk". Every method throws DEPENDENCY_UNAVAILABLE if Redis cannot be reached. */
export function createUsers({ redis, write }: StoreConnection) {
  const listeners = new Set<(id: UserId) => void>()
  const replace = async (expected: string, record: UserRecord): Promise<boolean> => {
    const text = encode(record)
    if (text === expected) return true
    const { id } = record.user
    const keys = [KEYS.records, KEYS.ids] as const
    const reply = await write(() => redis.eval(REPLACE_RECORD, 2, ...keys, id, expected, text))
    if (reply !== 1) return false
    for (const listener of listeners) listener(id)
    return true
  }
  return {
    async get(id: UserId): Promise<UserRecord | null> {
      const text = await reach(redis.hget(KEYS.records, id))
      return text === null ? null : decode(text)
    },
    /** False if the user exists; nothing is changed then. */
    insert: (record: UserRecord) => replace('', record),
    /** Returns whether the user existed. */
    async delete(id: UserId): Promise<boolean> {
      const reply = await write(() =>
        redis.multi().hdel(KEYS.records, id).zrem(KEYS.ids, id).exec(),
      )
      if (reply?.[0]?.[1] !== 1) return false
      for (const listener of listeners) listener(id)
      return true
    },
    /** Calls back after each change that this process made. Returns the way to stop. */
    onChange(listener: (id: UserId) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /**
     * Replaces the record by what `change` makes of the current one, and counts the version; `change` may run several
     * times.
     *
     * @returns The new record, or null if the user does not exist.
     * @throws {ScanError} LIMIT_EXCEEDED if the rights become too many.
     */
    async update(id: UserId, change: (record: UserRecord) => UserRecord) {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        const text = await reach(redis.hget(KEYS.records, id))
        if (text === null) return null
        const current = decode(text)
        const changed = change(current)
        const isSame = JSON.stringify(changed.user) === JSON.stringify(current.user)
        const next = isSame ? changed : { ...changed, version: (current.version ?? 0) + 1 }
        if (await replace(text, next)) return next
      }
      throw new ScanError('OVERLOADED', 'The user is being changed by too many requests at once.')
    },
    /** Users in byte order of their ids, after `after` ('' from the first). */
    async list({ after, limit }: Page): Promise<readonly UserRecord[]> {
      const from = after === '' ? '-' : `(${after}`
      const ids = await reach(redis.zrange(KEYS.ids, from, '+', 'BYLEX', 'LIMIT', 0, limit))
      if (ids.length === 0) return []
      const texts = await reach(redis.hmget(KEYS.records, ...ids))
      return texts.filter((text) => text !== null).map(decode)
    },
  }
}

/** The rights without duplicates, in order of first appearance. */
export function mergeRights(...lists: readonly (readonly Right[])[]): readonly Right[] {
  const byText = new Map(lists.flat().map((right) => [rightText(right), right]))
  return [...byText.values()]
}

/** The rights without those in `revoked`. */
export function withoutRights(rights: readonly Right[], revoked: readonly Right[]) {
  const texts = new Set(revoked.map(rightText))
  return rights.filter((right) => !texts.has(rightText(right)))
}

function rightText(right: Right): string {
  return 'party' in right ? `${right.kind} ${right.party}` : right.kind
}

function encode(record: UserRecord): string {
  if (record.rights.length > RIGHTS_PER_USER_MAX)
    throw new ScanError('LIMIT_EXCEEDED', `A user has at most ${RIGHTS_PER_USER_MAX} rights.`)
  return JSON.stringify(record)
}

function decode(text: string): UserRecord {
  // Written by `encode` alone, into keys that no other code writes.
  return JSON.parse(text) as UserRecord
}
