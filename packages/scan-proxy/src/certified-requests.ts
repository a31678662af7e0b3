/** What the proxy reads certified, as requests to a node: the answer is proven in the same way whoever is asked. */

import { type CertifiedRequest, requestOfLookups } from '@quorumscan/reader/certified'
import {
  type CanonicalRequest,
  type Json,
  type Lookup,
  REQUEST_OF_SCANS,
  requestOfAnsRules,
  requestOfDso,
} from '@quorumscan/verifier'
import {
  askNetwork,
  type CertifiedEntry,
  type NetworkValue,
  type Question,
} from '@quorumscan/verifier/certified'

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
