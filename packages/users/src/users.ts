/**
 * Users and their rights. Each is one record, replaced as a whole or not at all. What an administrator took away, no
 * registration gives back: a record remembers that a party or a right to act was withdrawn, and a deleted user leaves a
 * tombstone. Both last until the user has a primary party, or an administrator makes it again.
 */
import { held } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Right, User, UserId } from '@quorumscan/model'
import { estimateBytes } from '@quorumscan/redis'
import { KEYS, reach, type StoreConnection } from './connection.ts'
import { DELETE_RECORD, REPLACE_RECORD } from './scripts.ts'

export type UserRecord = {
  readonly user: User
  readonly rights: readonly Right[]
  /** How often `user` was changed; absent: never. */
  readonly version?: number
  /** Whether the last change of its parties took one, or the right to act as one, away. */
  readonly isWithdrawn?: true
}

/** As upstream's participant: keeps a record small enough to read at every request. */
export const RIGHTS_PER_USER_MAX = 1000
/** Concurrent writers of one record. Normal use has fewer. */
const ATTEMPTS_MAX = 16

type Page = { readonly after: UserId; readonly limit: number }

export type Users = ReturnType<typeof createUsers>

/** A promise that resolved means "on disk". Every method throws DEPENDENCY_UNAVAILABLE if Redis cannot be reached. */
export function createUsers({ redis, write }: StoreConnection) {
  const listeners = held(
    {
      owner: 'users',
      name: 'listeners of users',
      kind: 'state',
      bound: 'one of each part of the process',
    },
    new Set<(id: UserId) => void>(),
  )
  const keys = [KEYS.records, KEYS.ids, KEYS.deleted] as const
  const report = (id: UserId) => {
    for (const listener of listeners) listener(id)
  }
  const replace = async (expected: string, record: UserRecord, by: 'self' | '' = '') => {
    const text = encode(record)
    if (text === expected) return true
    const { id } = record.user
    const reply = await write(() =>
      redis.eval(REPLACE_RECORD, keys.length, ...keys, id, expected, text, by),
    )
    if (reply === -1) throw deletedUser()
    if (reply !== 1) return false
    report(id)
    return true
  }
  return {
    async get(id: UserId): Promise<UserRecord | null> {
      const text = await reach(redis.hget(KEYS.records, id))
      return text === null ? null : decode(text)
    },
    /** False if the user exists; nothing is changed then. Makes a deleted user again. */
    insert: (record: UserRecord) => replace('', record),
    /**
     * The same, for a user who registers.
     *
     * @throws {ScanError} PERMISSION_DENIED if an administrator deleted the user.
     */
    insertSelf: (record: UserRecord) => replace('', record, 'self'),
    /** Whether the user was deleted and not made again. */
    isDeleted: async (id: UserId): Promise<boolean> =>
      (await reach(redis.hexists(KEYS.deleted, id))) === 1,
    /** Returns whether the user existed. */
    async delete(id: UserId): Promise<boolean> {
      const reply = await write(() => redis.eval(DELETE_RECORD, keys.length, ...keys, id))
      if (reply !== 1) return false
      report(id)
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
        const changed = withdrawnIn(current, change(current))
        const isSame = JSON.stringify(changed.user) === JSON.stringify(current.user)
        const next = isSame ? changed : { ...changed, version: (current.version ?? 0) + 1 }
        if (await replace(text, next)) return next
      }
      throw new ScanError('OVERLOADED', 'The user is being changed by too many requests at once.')
    },
    count: () => reach(redis.zcard(KEYS.ids)),
    /** What users and their rights take in Redis, estimated from a sample. */
    bytes: () => reach(estimateBytes(redis, [KEYS.records, KEYS.ids])),
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

/**
 * Remembers in the next record whether the change took a party away. A primary party that is given ends it, as a user who
 * has one gets nothing by registering; the right to act as another party does not.
 */
function withdrawnIn(current: UserRecord, next: UserRecord): UserRecord {
  const partiesOf = ({ user, rights }: UserRecord) => {
    const acting = rights.filter(({ kind }) => kind === 'CanActAs').map(rightText)
    return [...acting, ...(user.primaryParty === null ? [] : [user.primaryParty])]
  }
  const [before, after] = [partiesOf(current), partiesOf(next)]
  const { isWithdrawn: _, ...rest } = next
  const { primaryParty } = next.user
  const isGiven = primaryParty !== null && primaryParty !== current.user.primaryParty
  const isTaken = before.some((one) => !after.includes(one))
  return !isGiven && (isTaken || current.isWithdrawn === true)
    ? { ...rest, isWithdrawn: true }
    : rest
}

function deletedUser(): ScanError {
  return new ScanError(
    'PERMISSION_DENIED',
    'An administrator deleted the user. An administrator can make it again.',
  )
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
