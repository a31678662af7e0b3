/**
 * Requests as they are kept with what proves their answers: each operation with all its parameters, after decoding
 * and defaulting.
 */
import type { Json } from '../encoding/canonical-json.ts'

/**
 * An operation with **all** its parameters, after decoding and defaulting (D-41): the same for a single
 * GET and for one lookup of a batch. `operation` is the operationId of `packages/api`.
 */
export type CanonicalRequest = {
  readonly operation: string
  readonly parameters: { readonly [name: string]: Json }
}

/** One lookup: by exact name, or by party identifier. */
export type Lookup = { readonly name: string } | { readonly party: string }

/** The operation that a lookup of a batch stands for. */
export function requestOfLookup(lookup: Lookup): CanonicalRequest {
  return 'name' in lookup
    ? { operation: 'getEntryByName', parameters: { name: lookup.name } }
    : { operation: 'getEntryByParty', parameters: { party: lookup.party } }
}

/** What pages have in common, as it came. */
type PageQuery = { readonly page_size: number; readonly page_token?: string | null }

export function requestOfEntries(
  query: PageQuery & { readonly name_prefix?: string | undefined },
): CanonicalRequest {
  const parameters = { name_prefix: query.name_prefix ?? '', ...pageParameters(query) }
  return { operation: 'listEntries', parameters }
}

export function requestOfEntriesByParty(party: string, query: PageQuery): CanonicalRequest {
  return { operation: 'listEntriesByParty', parameters: { party, ...pageParameters(query) } }
}

function pageParameters(query: PageQuery): CanonicalRequest['parameters'] {
  return { page_size: query.page_size, page_token: query.page_token ?? null }
}

/** An empty id stands for none, as upstream. */
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

export function requestOfAnsRules(body: {
  readonly cached_ans_rules_contract_id?: string | null | undefined
  readonly cached_ans_rules_domain_id?: string | null | undefined
}): CanonicalRequest {
  const parameters = {
    cached_ans_rules_contract_id: body.cached_ans_rules_contract_id ?? null,
    cached_ans_rules_domain_id: body.cached_ans_rules_domain_id ?? null,
  }
  return { operation: 'getAnsRules', parameters }
}

export function requestOfAmuletRules(body: {
  readonly cached_amulet_rules_contract_id?: string | null | undefined
  readonly cached_amulet_rules_domain_id?: string | null | undefined
}): CanonicalRequest {
  const parameters = {
    cached_amulet_rules_contract_id: body.cached_amulet_rules_contract_id ?? null,
    cached_amulet_rules_domain_id: body.cached_amulet_rules_domain_id ?? null,
  }
  return { operation: 'getAmuletRules', parameters }
}

export function requestOfMiningRounds(body: {
  readonly cached_open_mining_round_contract_ids: readonly string[]
  readonly cached_issuing_round_contract_ids: readonly string[]
}): CanonicalRequest {
  const parameters = {
    cached_open_mining_round_contract_ids: body.cached_open_mining_round_contract_ids,
    cached_issuing_round_contract_ids: body.cached_issuing_round_contract_ids,
  }
  return { operation: 'getOpenAndIssuingMiningRounds', parameters }
}

/** `isShared`: without the members that name the answering node, which differ from node to node (D-10). */
export function requestOfDso(isShared: boolean): CanonicalRequest {
  return { operation: 'getDso', parameters: { shared: isShared } }
}

export const REQUEST_OF_DSO_PARTY_ID: CanonicalRequest = {
  operation: 'getDsoPartyId',
  parameters: {},
}
export const REQUEST_OF_SCANS: CanonicalRequest = { operation: 'listScans', parameters: {} }
