/** From the user of a token to the party whose wallet it is. */
import { assertActAs } from '@quorumscan/auth'
import { ScanError } from '@quorumscan/errors'
import type { PartyId, UserId } from '@quorumscan/model'
import type { Users } from '@quorumscan/users'

export type WalletUser = { readonly userId: UserId; readonly party: PartyId }

/** @throws {ScanError} WALLET_NOT_FOUND if the user is not registered, PERMISSION_DENIED if it may not act. */
export async function walletUser(users: Users, userId: UserId): Promise<WalletUser> {
  const record = await users.get(userId)
  const party = record?.user.primaryParty ?? null
  if (record === null || party === null)
    throw new ScanError(
      'WALLET_NOT_FOUND',
      `No wallet found for user '${userId}': POST /v0/register makes one.`,
    )
  if (record.user.isDeactivated)
    throw new ScanError('PERMISSION_DENIED', 'The user is deactivated.')
  assertActAs(record.rights, [party])
  return { userId, party }
}
