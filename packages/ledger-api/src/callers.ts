/** From a token to the user it speaks for, with the user's current rights (docs/upstream.md §L6). */
import { isAdmin, type Verifier } from '@quorumscan/auth'
import { LedgerDecodeError, LedgerError } from '@quorumscan/errors'
import type { Micros, Right, UserId } from '@quorumscan/model'
import type { ValidatorStore } from '@quorumscan/users'

/** The user who sent a request. Authorization is always on (D-32), so there is always a user. */
export type Caller = {
  readonly userId: UserId
  readonly rights: readonly Right[]
  /** When the token expires, µs since the epoch; null: never. */
  readonly expiresAt: Micros | null
}

/** The part of a caller that decides what it may read. */
export type CallerRights = Pick<Caller, 'userId' | 'rights'>

export type LedgerAuthenticate = ReturnType<typeof authenticator>

/** RFC 6750. An invalid token is refused with 401, not with 400. */
const BEARER = /^Bearer +([^\s]+) *$/i

/** Authentication over HTTP: a header of another form does not decode (§L6.3). */
export function authenticator(verifier: Verifier, store: Pick<ValidatorStore, 'users'>) {
  /**
   * @throws {LedgerDecodeError} If the header is malformed.
   * @throws {LedgerError} 401 for an invalid token; 403 for a user who is unknown, deactivated or no administrator.
   */
  return async (request: {
    /** The header as received, null: none. */
    readonly authorization: string | null
    readonly auth: 'user' | 'admin'
  }): Promise<Caller> => {
    const { authorization, auth } = request
    if (authorization === null)
      throw new LedgerError('UNAUTHENTICATED', 'the Authorization header is missing')
    const token = BEARER.exec(authorization)?.[1]
    if (token === undefined)
      throw new LedgerDecodeError('header Authorization: must be `Bearer <JWT>`')
    const { userId, expiresAt } = await verifier.verifyToken(token)
    const record = await store.users.get(userId)
    if (record === null || record.user.isDeactivated)
      throw new LedgerError(
        'PERMISSION_DENIED',
        `the user ${userId} is ${record === null ? 'unknown' : 'deactivated'}`,
        { context: { ledger_api_error: 'invalid token' } },
      )
    if (auth === 'admin' && !isAdmin(record.rights))
      throw new LedgerError('PERMISSION_DENIED', `the user ${userId} is not an administrator`)
    return { userId, rights: record.rights, expiresAt }
  }
}
