/** Ids of parties, as a type that no other text has. */
import { failure } from '../errors.ts'

declare const brand: unique symbol
/** The id of a party: a hint, `::`, and its fingerprint. One read from elsewhere comes from `parseParty`. */
export type Party = string & { readonly [brand]: 'Party' }

const PARTY = /^([A-Za-z0-9_-]{1,185})::(1220[0-9a-f]{64})$/
/** Digits of the fingerprint that are shown of each end. */
const [FIRST_DIGITS, LAST_DIGITS] = [8, 4]

/** Whether the text has the form of one, and so can be no name. Whether there is such a party, the ledger knows. */
export function isParty(text: unknown): text is Party {
  return typeof text === 'string' && PARTY.test(text)
}

/** One that was typed or stored, without space around it. @throws {QuorumscanError} INVALID_PARTY. */
export function parseParty(typed: string): Party {
  const text = String(typed).trim()
  if (isParty(text)) return text
  throw failure('INVALID_PARTY', 'A party is a hint, "::", 1220 and 64 lower-case hex digits.')
}

/**
 * For a line that has no room: `alice::12205c3f…09ab`. It identifies nobody; the hint is whatever the party chose.
 *
 * @returns What is no party as it is.
 */
export function shortParty(party: string): string {
  const [, hint, fingerprint] = PARTY.exec(party) ?? []
  return fingerprint === undefined
    ? party
    : `${hint}::${fingerprint.slice(0, FIRST_DIGITS)}…${fingerprint.slice(-LAST_DIGITS)}`
}
