/** Requests of a mirror as queries of the certified state, which decide whether an answer proves anything. */
import { ScanError } from '@quorumscan/errors'
import { type CanonicalRequest, requestOfActivities } from '@quorumscan/verifier'
import { type HashedNetwork, queryOf, type StateQuery } from '@quorumscan/verifier/certified'

/** What the schema of the route has decoded. */
export type Decoded = {
  readonly params: never
  readonly query: never
  readonly body: never
}
type ProvenParameters = CanonicalRequest['parameters']
type Page = { readonly page_size: number; readonly page_token?: string }
type ActivitiesBody = Parameters<typeof requestOfActivities>[0]
type Lookup = { readonly name: string } | { readonly party: string }

const pageOf = ({ page_size, page_token }: Page) => ({ page_size, page_token: page_token ?? null })

/** The parameters of each certified route, in the form that is proven. */
const PARAMETERS: Readonly<Record<string, (request: Decoded) => ProvenParameters>> = {
  getEntryByName: ({ params }: { params: { name: string } }) => ({ name: params.name }),
  getEntryByParty: ({ params }: { params: { party: string } }) => ({ party: params.party }),
  listEntries: ({ query }: { query: Page & { name_prefix?: string } }) => ({
    name_prefix: query.name_prefix ?? '',
    ...pageOf(query),
  }),
  listEntriesByParty: ({ params, query }: { params: { party: string }; query: Page }) => ({
    party: params.party,
    ...pageOf(query),
  }),
  lookupEntries: ({ body }: { body: { lookups: readonly Lookup[] } }) => ({
    // Without unknown members (D-7).
    lookups: body.lookups.map((one) => ('name' in one ? { name: one.name } : { party: one.party })),
  }),
  listActivities: ({ body }: { body: ActivitiesBody }) => requestOfActivities(body).parameters,
  getDso: () => ({ shared: true }),
  getAnsRules: () => ({ cached_ans_rules_contract_id: null, cached_ans_rules_domain_id: null }),
  listScans: () => ({}),
}

/** @throws {ScanError} INVALID_PAGE_TOKEN. */
export function proofQueryOf(
  operation: string,
  request: Decoded,
  network: HashedNetwork,
): StateQuery<unknown> {
  const parameters = PARAMETERS[operation]?.(request) ?? {}
  try {
    return queryOf({ operation, parameters }, network)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new ScanError('INVALID_PAGE_TOKEN', 'the page token was not issued for this list', {
      cause,
    })
  }
}
