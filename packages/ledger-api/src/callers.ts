/** From a token to the user it speaks for, with the rights of the moment (docs/upstream.md §L6). */
import { isAdmin, type Verifier } from '@quorumscan/auth'
import { LedgerDecodeError, LedgerError } from '@quorumscan/errors'
import type { Micros, Right, UserId } from '@quorumscan/model'
import type { ValidatorStore } from '@quorumscan/users'

/** Who calls. Authorization is always on (D-32), so there is always a user. */
export type Caller = {
  readonly userId: UserId
  readonly rights: readonly Right[]
  /** When the token ends, µs since the epoch; null for never. */
  readonly expiresAt: Micros | null
}

/** Returns the caller. @throws {LedgerDecodeError} If the header is malformed. @throws {LedgerError} 401, 403. */
export type LedgerAuthenticate<Caller> = (request: {
  /** The header as it came, null for none. */
  readonly authorization: string | null
  readonly auth: 'user' | 'admin'
}) => Promise<Caller>

/** What tokens are checked with, and users read from. */
type CallerSources = {
  readonly verifier: Verifier
  readonly store: Pick<ValidatorStore, 'users'>
}

/** RFC 6750; what the token is worth is said with 401, not with 400. */
const BEARER = /^Bearer +([^\s]+) *$/i

/** Authentication over HTTP: a header that is none of the known form does not decode (§L6.3). */
export function authenticator(context: CallerSources): LedgerAuthenticate<Caller> {
  return async ({ authorization, auth }) => {
    if (authorization === null)
      throw new LedgerError('UNAUTHENTICATED', 'no Authorization header is there')
    const token = BEARER.exec(authorization)?.[1]
    if (token === undefined)
      throw new LedgerDecodeError('header Authorization: must be `Bearer <JWT>`')
    const caller = await callerOf(context, token)
    if (auth === 'admin' && !isAdmin(caller.rights))
      throw new LedgerError('PERMISSION_DENIED', `${caller.userId} is no administrator`)
    return caller
  }
}

/** @throws {LedgerError} 401 for a bad token, 403 for a user who is unknown or deactivated. */
export async function callerOf(context: CallerSources, token: string): Promise<Caller> {
  const { userId, expiresAt } = await context.verifier.verifyToken(token)
  const record = await context.store.users.get(userId)
  if (record === null || record.user.isDeactivated)
    throw new LedgerError(
      'PERMISSION_DENIED',
      `the user ${userId} is ${record === null ? 'unknown' : 'deactivated'}`,
      { context: { ledger_api_error: 'invalid token' } },
    )
  return { userId, rights: record.rights, expiresAt }
}
