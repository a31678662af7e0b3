/** Pages of entries and of activities as requests to a node. Programs that only look names up do not load them. */
import {
  requestOfActivities,
  requestOfEntries,
  requestOfEntriesByParty,
} from '@quorumscan/verifier'
import {
  type ActivitiesAnswer,
  type ActivitiesPage,
  activitiesQuery,
  type CertifiedPage,
  entriesQuery,
  type PageRequest,
  type PageSubject,
  partyEntriesQuery,
} from '@quorumscan/verifier/certified'
import type { CertifiedQuery } from './node-request.ts'

/** A page of the entries of a prefix, or of all entries of a party. */
export function requestOfEntriesPage(
  page: PageRequest & { readonly subject: PageSubject },
): CertifiedQuery<CertifiedPage> {
  const { subject, pageSize, pageToken } = page
  const asked = { page_size: pageSize, page_token: pageToken }
  const token = pageToken === null ? '' : `&page_token=${encodeURIComponent(pageToken)}`
  const query = `page_size=${pageSize}${token}`
  const shared = { body: null, entryCountMax: pageSize + 1 }
  if (subject.kind === 'party') {
    const { party } = subject
    return {
      ...shared,
      request: requestOfEntriesByParty(party, asked),
      stateQuery: (network) => partyEntriesQuery(party, page, network),
      path: `/v0/ans-entries/by-party/${encodeURIComponent(party)}/all?${query}`,
    }
  }
  const { prefix } = subject
  return {
    ...shared,
    request: requestOfEntries({ name_prefix: prefix, ...asked }),
    stateQuery: (network) => entriesQuery(prefix, page, network),
    path: `/v0/ans-entries?name_prefix=${encodeURIComponent(prefix)}&${query}`,
  }
}

/** A page of rows is bounded as this many entries, for any number of rows: one row may have megabytes. */
const ACTIVITIES_ENTRIES = 100

export function requestOfActivitiesPage(page: ActivitiesPage): CertifiedQuery<ActivitiesAnswer> {
  const { pageSize, after, order } = page
  const request = requestOfActivities({
    page_size: pageSize,
    begin_after_id: after,
    sort_order: order,
  })
  return {
    request,
    stateQuery: (network) => activitiesQuery(page, network),
    path: '/v0/activities',
    body: request.parameters,
    entryCountMax: ACTIVITIES_ENTRIES,
  }
}
