/** A query as an HTTP request to a node. */

import { type CanonicalRequest, type Lookup, requestOfLookup, utf8 } from '@quorumscan/verifier'
import {
  batchQuery,
  CERTIFIED_MEDIA_TYPE,
  type CertifiedEntry,
  type HashedNetwork,
  type RangeQuery,
  type StateQuery,
} from '@quorumscan/verifier/certified'
import type { NodeRequest, TransportRequest } from '../source/transport.ts'

/** A query in all its forms: the request that is stored with the proof, the query of the state, and the HTTP request. */
export type CertifiedQuery<Answer, Query = StateQuery<Answer>> = {
  /** As it is stored with the proof. */
  readonly request: CanonicalRequest
  /** Which part of the state answers it. @throws {RangeError} If no part does. */
  stateQuery(network: HashedNetwork): Query
  /** Path and query below the node's base address. */
  readonly path: string
  /** Body of a POST; null: a GET. */
  readonly body: object | null
  /** Entries in the answer, at most; they bound its size. A node that sends more bytes has failed. */
  readonly entryCountMax: number
}

type LookupAnswers = readonly (CertifiedEntry | null)[]

/** Only characters that need no escaping in a path. */
const PLAIN = /^[\w-][\w.:-]*$/

/** One lookup goes by an address that caches can store, several by one request. */
export function requestOfLookups(
  lookups: readonly Lookup[],
): CertifiedQuery<LookupAnswers, RangeQuery<LookupAnswers>> {
  const stateQuery = (network: HashedNetwork) => batchQuery(lookups, network)
  const [lookup, ...others] = lookups
  const asked = lookup && ('name' in lookup ? lookup.name : lookup.party)
  if (lookup === undefined || asked === undefined || others.length > 0 || !PLAIN.test(asked))
    return {
      request: { operation: 'lookupEntries', parameters: { lookups } },
      stateQuery,
      path: '/v0/ans-entries/batch',
      body: { lookups },
      entryCountMax: lookups.length,
    }
  return {
    request: requestOfLookup(lookup),
    stateQuery,
    path: `/v0/ans-entries/by-${'name' in lookup ? 'name' : 'party'}/${asked}`,
    body: null,
    entryCountMax: 1,
  }
}

/** A certificate of a hundred members, or an error. */
const CERTIFICATE_BYTES_MAX = 24_000
/** An entry as JSON in JSON. */
const ENTRY_BYTES_MAX = 8_000
/** The path to an entry, if an attacker has crowded names around it: a hash for each bit of its key. */
const PATH_BYTES_MAX = 160_000
/** Bound of every answer: what a lying node can make this process store. */
const DOCUMENT_BYTES_MAX = 16 * 1024 * 1024

const NEWEST_CERTIFICATE = { path: '/v0/certificate', body: null, entryCountMax: 0 }

/**
 * The HTTP request of a query. Without a query, it requests the newest certificate alone.
 *
 * @param bounds.signers - 0: as many as every certificate has.
 * @param bounds.minOffset - 0: any offset.
 */
export function wireRequest(
  asked: CertifiedQuery<unknown> | undefined,
  bounds: { readonly signers: number; readonly minOffset: number },
): NodeRequest & Pick<TransportRequest, 'channel'> {
  const { path, body, entryCountMax } = asked ?? NEWEST_CERTIFICATE
  const { signers } = bounds
  const query = {
    ...(signers > 0 ? { signers: String(signers) } : {}),
    ...(bounds.minOffset > 0 ? { min_offset: bounds.minOffset as never } : {}),
  }
  const search = body === null ? `${new URLSearchParams(query)}` : ''
  const documentBytes = CERTIFICATE_BYTES_MAX + entryCountMax * (ENTRY_BYTES_MAX + PATH_BYTES_MAX)
  return {
    method: body === null ? 'GET' : 'POST',
    path: path + (search && (path.includes('?') ? '&' : '?')) + search,
    // Needs no preflight in a browser (D-14).
    headers: {
      accept: CERTIFIED_MEDIA_TYPE,
      ...(body === null ? {} : { 'content-type': 'text/plain' }),
    },
    body: body === null ? null : utf8(JSON.stringify({ ...body, ...query })),
    bytesMax: Math.min(documentBytes, DOCUMENT_BYTES_MAX),
    channel: entryCountMax > 1 ? 'bulk' : 'lookup',
  }
}
