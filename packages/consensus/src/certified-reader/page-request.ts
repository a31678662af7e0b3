/** A page of the entries whose names begin with a prefix, as a request to a node. */
import { askEntries, type CertifiedPage } from '../certified/lists.ts'
import { requestOfEntries } from '../statements/requests.ts'
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
