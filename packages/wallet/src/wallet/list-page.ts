/** Pages of a party's contracts: the newest first, or the largest amount first (D-92). */
import { PAGE_SIZE_DEFAULT, type QueryOf, type validatorRoutes } from '@quorumscan/api'
import { ScanError } from '@quorumscan/errors'
import { amountKey, partyKey, type Template } from '@quorumscan/ledger'
import type { Contract, PartyId } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'

/** As the routes have it. */
export type ListQuery = QueryOf<(typeof validatorRoutes)['listCoins']>
export type PageQuery = QueryOf<(typeof validatorRoutes)['listOwnEntries']>
type Order = NonNullable<ListQuery['order']>

/** How a token begins, so that it continues no list of another order. */
const PREFIX = { newest: 0, amount: 1 } as const

/**
 * A page of the contracts of some templates in which the party has a stake, in one order. A walk over all pages shows
 * each contract that exists from its beginning to its end, once.
 *
 * @throws {ScanError} INVALID_PAGE_TOKEN.
 */
export async function readListPage(
  ledger: Pick<Replica, 'listContracts'>,
  input: {
    readonly templates: readonly Pick<Template<unknown>, 'entity'>[]
    readonly party: PartyId
    readonly query: ListQuery
  },
): Promise<{ readonly contracts: readonly Contract[]; readonly nextPageToken: string | null }> {
  const { templates, party, query } = input
  const { order = 'newest', page_size: limit = PAGE_SIZE_DEFAULT, page_token: token } = query
  const keyOf = order === 'newest' ? partyKey : amountKey
  const keys = templates.map(({ entity }) => keyOf(entity, party))
  const after = token === undefined ? undefined : positionOf(token, order)
  const { contracts, next } = await ledger.listContracts(keys, { after, limit })
  const nextPageToken =
    next === undefined ? null : Buffer.from([PREFIX[order], ...next]).toString('base64url')
  return { contracts, nextPageToken }
}

function positionOf(token: string, order: Order): Uint8Array {
  const bytes = Buffer.from(token, 'base64url')
  const isCanonical = bytes.toString('base64url') === token
  if (!isCanonical || bytes[0] !== PREFIX[order] || bytes.byteLength > POSITION_BYTES_MAX)
    throw invalidPageToken()
  return bytes.subarray(1)
}

/** More than any position has. */
const POSITION_BYTES_MAX = 64

export function invalidPageToken(): ScanError {
  return new ScanError('INVALID_PAGE_TOKEN', 'The page token was not issued for this list.')
}
