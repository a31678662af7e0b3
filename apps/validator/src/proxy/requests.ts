/**
 * The operations that the proxy reads beside lookups, as requests to a node. Pure. `parameters` are all
 * of them after decoding and defaulting, because they are what a receipt binds (D-41).
 */
import { utf8 } from '@quorumscan/base'
import type { Json, ReadRequest } from '@quorumscan/consensus'
import type { PartyId } from '@quorumscan/model'

type Page = { readonly page_size: number; readonly page_token?: string }
type Parameters = { readonly [name: string]: Json }

export function listEntriesRequest(query: Page & { readonly name_prefix?: string }): ReadRequest {
  const own = { name_prefix: query.name_prefix ?? '', ...pageParameters(query) }
  return { ...get('listEntries', `/v0/ans-entries?${queryText(own)}`, own), pin: pinOf(query) }
}

export function listEntriesByPartyRequest(party: PartyId, query: Page): ReadRequest {
  const own = pageParameters(query)
  const path = `/v0/ans-entries/by-party/${encodeURIComponent(party)}/all?${queryText(own)}`
  return { ...get('listEntriesByParty', path, { party, ...own }), pin: pinOf(query) }
}

export function ansRulesRequest(body: {
  readonly cached_ans_rules_contract_id?: string | null
  readonly cached_ans_rules_domain_id?: string | null
}): ReadRequest {
  const parameters = {
    cached_ans_rules_contract_id: body.cached_ans_rules_contract_id ?? null,
    cached_ans_rules_domain_id: body.cached_ans_rules_domain_id ?? null,
  }
  return {
    operation: 'getAnsRules',
    parameters,
    method: 'POST',
    path: '/v0/ans-rules',
    body: new Uint8Array(utf8(JSON.stringify(parameters))),
  }
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
    operation: 'listActivities',
    parameters,
    method: 'POST',
    path: '/v0/activities',
    body: new Uint8Array(utf8(JSON.stringify(parameters))),
  }
}

export const dsoPartyIdRequest: ReadRequest = get('getDsoPartyId', '/v0/dso-party-id', {})
/** Without the members that name the answering node, which differ from node to node (D-10). */
export const sharedDsoRequest: ReadRequest = get('getDso', '/v0/dso?shared=true', { shared: true })
export const scansRequest: ReadRequest = get('listScans', '/v0/scans', {})

function get(operation: string, path: string, parameters: Parameters): ReadRequest {
  return { operation, parameters, method: 'GET', path, body: null }
}

function pageParameters(query: Page): Parameters {
  return { page_size: query.page_size, page_token: query.page_token ?? null }
}

/** A walk over pages is one read at the offset in its token (D-39). */
function pinOf(query: Page): 'reader' | 'request' {
  return query.page_token === undefined ? 'reader' : 'request'
}

function queryText(parameters: Parameters): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&')
}
