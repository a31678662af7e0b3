/**
 * Requests as they are stored with the proofs of their answers: each operation with all its parameters, after decoding
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

/** The request that corresponds to one lookup of a batch. */
export function requestOfLookup(lookup: Lookup): CanonicalRequest {
  return 'name' in lookup
    ? { operation: 'getEntryByName', parameters: { name: lookup.name } }
    : { operation: 'getEntryByParty', parameters: { party: lookup.party } }
}
