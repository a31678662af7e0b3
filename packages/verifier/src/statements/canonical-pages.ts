/** Requests for pages, as they are stored with the proofs of their answers. */
import type { CanonicalRequest } from './canonical-request.ts'

/** The parameters of pages, before defaulting. */
type PageQuery = { readonly page_size: number; readonly page_token?: string | null }

export function requestOfEntries(query: PageQuery & { readonly name_prefix?: string | undefined }) {
  const parameters = { name_prefix: query.name_prefix ?? '', ...pageParameters(query) }
  return { operation: 'listEntries', parameters }
}

export function requestOfEntriesByParty(party: string, query: PageQuery): CanonicalRequest {
  return { operation: 'listEntriesByParty', parameters: { party, ...pageParameters(query) } }
}

function pageParameters(query: PageQuery): CanonicalRequest['parameters'] {
  return { page_size: query.page_size, page_token: query.page_token ?? null }
}

/** An empty id means the first page, as upstream. */
export function requestOfActivities(body: {
  readonly page_size: number
  readonly begin_after_id?: string | null | undefined
  readonly sort_order?: 'asc' | 'desc' | null | undefined
}) {
  const parameters = {
    page_size: body.page_size,
    begin_after_id: body.begin_after_id || null,
    sort_order: body.sort_order ?? 'asc',
  }
  return { operation: 'listActivities', parameters } as const satisfies CanonicalRequest
}
