/** Pages as requests to a node: of entries, and of activities. */

import {
  requestOfActivities,
  requestOfEntries,
  requestOfEntriesByParty,
} from '@quorumscan/verifier'
import type { ActivitiesPage, PageSubject } from '@quorumscan/verifier/certified'
import {
  type ActivitiesAnswer,
  askActivities,
  askEntries,
  askEntriesOfParty,
  type CertifiedPage,
  type PageRequest,
} from '@quorumscan/verifier/certified'
import type { CertifiedRequest } from './requests.ts'

/** A page of the entries of a prefix, or of all entries of a party. */
export function requestOfEntriesPage(
  page: PageRequest & { readonly subject: PageSubject },
): CertifiedRequest<CertifiedPage> {
  const { subject, pageSize, pageToken } = page
  const asked = { page_size: pageSize, page_token: pageToken }
  const query = [
    `page_size=${pageSize}`,
    ...(pageToken === null ? [] : [`page_token=${encodeURIComponent(pageToken)}`]),
  ].join('&')
  const shared = { body: null, entryCountMax: pageSize + 1 }
  if (subject.kind === 'party') {
    const { party } = subject
    return {
      ...shared,
      request: requestOfEntriesByParty(party, asked),
      question: (network) => askEntriesOfParty(party, page, network),
      path: `/v0/ans-entries/by-party/${encodeURIComponent(party)}/all?${query}`,
    }
  }
  const { prefix } = subject
  return {
    ...shared,
    request: requestOfEntries({ name_prefix: prefix, ...asked }),
    question: (network) => askEntries(prefix, page, network),
    path: `/v0/ans-entries?name_prefix=${encodeURIComponent(prefix)}&${query}`,
  }
}

/** A page of rows takes as many bytes as so many entries, however many rows it has: one may have megabytes. */
const ACTIVITIES_ENTRIES = 100

export function requestOfActivitiesPage(page: ActivitiesPage): CertifiedRequest<ActivitiesAnswer> {
  const { pageSize, after, order } = page
  const request = requestOfActivities({
    page_size: pageSize,
    begin_after_id: after,
    sort_order: order,
  })
  return {
    request,
    question: (network) => askActivities(page, network),
    path: '/v0/activities',
    body: request.parameters,
    entryCountMax: ACTIVITIES_ENTRIES,
  }
}
