/**
 * The operations that the proxy reads beside lookups, as requests to a node. Pure. `parameters` are all
 * of them after decoding and defaulting, because they are what a receipt binds (D-41).
 */
import { isScanAnswer } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import {
  activitiesBytesMax,
  entriesBytesMax,
  type Genesis,
  type Json,
  type ReadRequest,
  scansBytesMax,
} from '@quorumscan/consensus'
import type { PartyId } from '@quorumscan/model'
import { isSharedDso } from './dso-answer.ts'

/** Of the operations without pages; what they tell of every node of the largest network is below half of it. */
const DOCUMENT_BYTES_MAX = scansBytesMax(256)

type Page = { readonly page_size: number; readonly page_token?: string }
type OwnParameters = { readonly [name: string]: Json }
type Operation = Parameters<typeof isScanAnswer>[0]

export function listEntriesRequest(query: Page & { readonly name_prefix?: string }): ReadRequest {
  const own = { name_prefix: query.name_prefix ?? '', ...pageParameters(query) }
  return { ...get('listEntries', `/v0/ans-entries?${queryText(own)}`, own), ...pageOf(query) }
}

export function listEntriesByPartyRequest(party: PartyId, query: Page): ReadRequest {
  const own = pageParameters(query)
  const path = `/v0/ans-entries/by-party/${encodeURIComponent(party)}/all?${queryText(own)}`
  return { ...get('listEntriesByParty', path, { party, ...own }), ...pageOf(query) }
}

export function ansRulesRequest(body: {
  readonly cached_ans_rules_contract_id?: string | null
  readonly cached_ans_rules_domain_id?: string | null
}): ReadRequest {
  const parameters = {
    cached_ans_rules_contract_id: body.cached_ans_rules_contract_id ?? null,
    cached_ans_rules_domain_id: body.cached_ans_rules_domain_id ?? null,
  }
  return post('getAnsRules', '/v0/ans-rules', parameters)
}

/** Each page is pinned by itself: what came meanwhile lies outside of what the walk has passed. */
export function activitiesRequest(body: {
  readonly page_size: number
  readonly begin_after_id?: string | null
  readonly sort_order?: 'asc' | 'desc' | null
}): ReadRequest {
  const parameters = {
    page_size: body.page_size,
    begin_after_id: body.begin_after_id || null,
    sort_order: body.sort_order ?? 'asc',
  }
  return {
    ...post('listActivities', '/v0/activities', parameters),
    bytesMax: activitiesBytesMax(body.page_size),
  }
}

export const dsoPartyIdRequest: ReadRequest = get('getDsoPartyId', '/v0/dso-party-id', {})
export const scansRequest: ReadRequest = get('listScans', '/v0/scans', {})

/** Without the members that name the answering node, which differ from node to node (D-10). */
export function sharedDsoRequest(genesis: Genesis): ReadRequest {
  return {
    ...get('getDso', '/v0/dso?shared=true', { shared: true }),
    isValid: (body) => isSharedDso(body, genesis),
  }
}

function get(operation: Operation, path: string, parameters: OwnParameters): ReadRequest {
  return { ...asked(operation, parameters), method: 'GET', path, body: null }
}

function post(operation: Operation, path: string, parameters: OwnParameters): ReadRequest {
  const body = new Uint8Array(utf8(JSON.stringify(parameters)))
  return { ...asked(operation, parameters), method: 'POST', path, body }
}

/** D-35: what does not fit the schema of the operation is no vote. */
function asked(operation: Operation, parameters: OwnParameters) {
  const isValid = (body: unknown) => isScanAnswer(operation, body)
  return { operation, parameters, isValid, bytesMax: DOCUMENT_BYTES_MAX }
}

function pageParameters(query: Page): OwnParameters {
  return { page_size: query.page_size, page_token: query.page_token ?? null }
}

/** A walk over pages is one read at the offset in its token (D-39). */
function pageOf(query: Page): Pick<ReadRequest, 'pin' | 'bytesMax'> {
  return {
    pin: query.page_token === undefined ? 'reader' : 'request',
    bytesMax: entriesBytesMax(query.page_size),
  }
}

function queryText(parameters: OwnParameters): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&')
}
