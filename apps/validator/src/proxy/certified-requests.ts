/** What the proxy reads certified, as requests to a node: the answer is proven in the same way whoever is asked. */
import {
  type CanonicalRequest,
  type Json,
  type Lookup,
  REQUEST_OF_SCANS,
  requestOfAnsRules,
  requestOfDso,
} from '@quorumscan/consensus'
import {
  askEntriesOfParty,
  askNetwork,
  type CertifiedEntry,
  type CertifiedPage,
  type NetworkValue,
  type PageRequest,
  type Question,
} from '@quorumscan/consensus/certified'
import { type CertifiedRequest, requestOfLookups } from '@quorumscan/consensus/certified-reader'
import type { PartyId } from '@quorumscan/model'
import { listEntriesByPartyRequest } from './requests.ts'

/** What a network of a hundred members says of itself has room in so many entries. */
const NETWORK_VALUE_ENTRIES = 8

/** One lookup, whose answer is the entry or null. */
export function lookupRequest(
  lookup: Lookup,
): CertifiedRequest<CertifiedEntry | null, Question<CertifiedEntry | null>> {
  const batch = requestOfLookups([lookup])
  return {
    ...batch,
    question(network) {
      const { answer, ...question } = batch.question(network)
      return { ...question, answer: (...input) => answer(...input)[0] ?? null }
    },
  }
}

export function partyPageRequest(
  party: PartyId,
  page: PageRequest,
): CertifiedRequest<CertifiedPage> {
  const { pageSize, pageToken } = page
  const query = { page_size: pageSize, ...(pageToken === null ? {} : { page_token: pageToken }) }
  const { operation, parameters, path } = listEntriesByPartyRequest(party, query)
  return {
    request: { operation, parameters },
    question: (network) => askEntriesOfParty(party, page, network),
    path,
    body: null,
    entryCountMax: pageSize + 1,
  }
}

export const dsoRequest = networkRequest('dso', requestOfDso(true), '/v0/dso?shared=true')
export const scansRequest = networkRequest('scans', REQUEST_OF_SCANS, '/v0/scans')
export const ansRulesRequest: CertifiedRequest<Json> = {
  ...networkRequest('ans-rules', requestOfAnsRules({}), '/v0/ans-rules'),
  body: {},
}

function networkRequest(
  value: NetworkValue,
  request: CanonicalRequest,
  path: string,
): CertifiedRequest<Json> {
  const question = askNetwork(value)
  const entryCountMax = NETWORK_VALUE_ENTRIES
  return { request, question: () => question, path, body: null, entryCountMax }
}
