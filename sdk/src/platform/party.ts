/** The form of a party. What only looks names up loads it without the other values. */

declare const partyBrand: unique symbol
/** The id of a party: a hint, `::`, and its fingerprint. `parseParty` makes one of a text. */
export type Party = string & { readonly [partyBrand]: 'Party' }

/** `PARTY` of the verifier, with hint and fingerprint as groups; a page that only looks names up loads no other part. */
export const PARTY = /^([A-Za-z0-9_-]{1,185})::(1220[0-9a-f]{64})$/

/**
 * Whether the text has the form of a party, and so cannot be a name. Only the ledger knows whether the party exists.
 *
 * @example const party = isParty(typed) ? typed : await scan.names.resolve(typed)
 */
export function isParty(text: unknown): text is Party {
  return typeof text === 'string' && PARTY.test(text)
}
