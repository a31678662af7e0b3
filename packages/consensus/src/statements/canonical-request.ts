import { utf8 } from '../encoding/bytes.ts'
import { canonicalJson, type Json } from '../encoding/canonical-json.ts'

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

/** The bytes whose SHA-256 a statement holds. @throws {RangeError} As `canonicalJson`. */
export function canonicalRequest(request: CanonicalRequest): Uint8Array<ArrayBuffer> {
  return utf8(canonicalJson({ operation: request.operation, parameters: request.parameters }))
}
