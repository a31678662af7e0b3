/**
 * The operations that the proxy reads beside lookups, as requests to a node, with all their parameters after
 * decoding and defaulting (D-41). Pure.
 */
import { isScanAnswer } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import type { PartyId } from '@quorumscan/model'
import {
  activitiesBytesMax,
  entriesBytesMax,
  type ReadRequest,
  scansBytesMax,
} from '@quorumscan/reader'
import {
  type CanonicalRequest,
  type Genesis,
  REQUEST_OF_DSO_PARTY_ID,
  REQUEST_OF_SCANS,
  requestOfActivities,
  requestOfAmuletRules,
  requestOfAnsRules,
  requestOfDso,
  requestOfEntries,
  requestOfEntriesByParty,
  requestOfMiningRounds,
} from '@quorumscan/verifier'
import { isWholeRounds, isWholeRules } from './coin-rules.ts'
import { isSharedDso } from './dso-answer.ts'

/** Of the operations without pages; what they tell of every node of the largest network is below half of it. */
const DOCUMENT_BYTES_MAX = scansBytesMax(256)

type Operation = Parameters<typeof isScanAnswer>[0]

type Page = { readonly page_size: number; readonly page_token?: string }

export function listEntriesRequest(query: Page & { readonly name_prefix?: string }): ReadRequest {
  const request = requestOfEntries(query)
  return { ...get(request, `/v0/ans-entries?${queryText(request.parameters)}`), ...pageOf(query) }
}

export function listEntriesByPartyRequest(party: PartyId, query: Page): ReadRequest {
  const request = requestOfEntriesByParty(party, query)
  const { party: _, ...own } = request.parameters
  const path = `/v0/ans-entries/by-party/${encodeURIComponent(party)}/all?${queryText(own)}`
  return { ...get(request, path), ...pageOf(query) }
}

export function ansRulesRequest(body: Parameters<typeof requestOfAnsRules>[0]): ReadRequest {
  return post(requestOfAnsRules(body), '/v0/ans-rules')
}

/** Each page is pinned by itself: what came meanwhile lies outside of what the walk has passed. */
export function activitiesRequest(body: Parameters<typeof requestOfActivities>[0]): ReadRequest {
  return {
    ...post(requestOfActivities(body), '/v0/activities'),
    bytesMax: activitiesBytesMax(body.page_size),
  }
}

export const dsoPartyIdRequest: ReadRequest = get(REQUEST_OF_DSO_PARTY_ID, '/v0/dso-party-id')
export const scansRequest: ReadRequest = get(REQUEST_OF_SCANS, '/v0/scans')

export const amuletRulesRequest: ReadRequest = {
  ...post(requestOfAmuletRules({}), '/v0/amulet-rules'),
  isValid: isWholeRules,
}
export const miningRoundsRequest: ReadRequest = {
  ...post(
    requestOfMiningRounds({
      cached_open_mining_round_contract_ids: [],
      cached_issuing_round_contract_ids: [],
    }),
    '/v0/open-and-issuing-mining-rounds',
  ),
  isValid: isWholeRounds,
}

export function sharedDsoRequest(genesis: Genesis): ReadRequest {
  return {
    ...get(requestOfDso(true), '/v0/dso?shared=true'),
    isValid: (body) => isSharedDso(body, genesis),
  }
}

function get(request: CanonicalRequest, path: string): ReadRequest {
  return { ...asked(request), method: 'GET', path, body: null }
}

function post(request: CanonicalRequest, path: string): ReadRequest {
  const body = new Uint8Array(utf8(JSON.stringify(request.parameters)))
  return { ...asked(request), method: 'POST', path, body }
}

/** D-35: what does not fit the schema of the operation is no vote. */
function asked(request: CanonicalRequest) {
  const operation = request.operation as Operation // The routes of a node are those that requests name.
  const isValid = (body: unknown) => isScanAnswer(operation, body)
  return { ...request, isValid, bytesMax: DOCUMENT_BYTES_MAX }
}

/** A walk over pages is one read at the offset in its token (D-39). */
function pageOf(query: Page): Pick<ReadRequest, 'pin' | 'bytesMax'> {
  return {
    pin: query.page_token === undefined ? 'reader' : 'request',
    bytesMax: entriesBytesMax(query.page_size),
  }
}

function queryText(parameters: CanonicalRequest['parameters']): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&')
}
