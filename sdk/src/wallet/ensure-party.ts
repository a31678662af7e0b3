import type { Party } from '../platform/party.ts'
import type { CallOptions, Wallet } from './wallet.ts'

/** The user's party, which the user gets if it has none. @throws {QuorumscanError} As the calls of the wallet. */
export async function ensureParty(
  wallet: Pick<Wallet, 'status' | 'party'>,
  call: () => CallOptions,
): Promise<Party> {
  const { partyId } = await wallet.status(call())
  return partyId === '' ? await wallet.party(call()) : partyId
}
