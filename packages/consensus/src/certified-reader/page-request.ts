/** Pages as requests to a node: of entries whose names begin with a prefix, and of activities. */
import { type ActivitiesAnswer, askActivities } from '../certified/activities.ts'
import { askEntries, type CertifiedPage } from '../certified/lists.ts'
import type { ActivitiesPage } from '../certified/question.ts'
import { requestOfActivities, requestOfEntries } from '../statements/requests.ts'
import type { CertifiedRequest } from './requests.ts'

export function requestOfEntriesPage(page: {
  readonly prefix: string
  readonly pageSize: number
  /** null: the first page. */
  readonly pageToken: string | null
}): CertifiedRequest<CertifiedPage> {
  const { prefix, pageSize, pageToken } = page
  const query = [
    `name_prefix=${encodeURIComponent(prefix)}`,
    `page_size=${pageSize}`,
    ...(pageToken === null ? [] : [`page_token=${encodeURIComponent(pageToken)}`]),
  ]
  return {
    request: requestOfEntries({ name_prefix: prefix, page_size: pageSize, page_token: pageToken }),
    question: (network) => askEntries(prefix, page, network),
    path: `/v0/ans-entries?${query.join('&')}`,
    body: null,
    entryCountMax: pageSize + 1,
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
