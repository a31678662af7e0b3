/**
 * Texts and numbers that occur in many operations.
 *
 * Schemas check the form of a request. Handlers check the rules that have a code of their own (D-17), so that the answer
 * names the rule.
 */

import type { ErrorCode } from '@quorumscan/errors'
import { ASKED_NAME_LENGTH_MAX, PAGE_SIZE_MAX, PARTY } from '@quorumscan/verifier'
import { Type } from 'typebox'
import * as m from './members.ts'

/** A text that has a UTF-8 form. */
export const WELL_FORMED_PATTERN = '^\\P{Cs}*$'
export const INTEGER_TEXT = '^(0|[1-9][0-9]*)$'
/** D-30. */
export const PARTY_PATTERN = PARTY.source
/** base64url; what is inside is checked by the node that issued it (D-11). */
export const PAGE_TOKEN_PATTERN = '^[A-Za-z0-9_-]{1,1024}$'

/** Codes of members that fail their pattern; all others are INVALID_ARGUMENT. */
export const codeByPattern: Readonly<Record<string, ErrorCode>> = {
  [PARTY_PATTERN]: 'INVALID_PARTY',
  [PAGE_TOKEN_PATTERN]: 'INVALID_PAGE_TOKEN',
}

export const Party = m.formed(PARTY_PATTERN, 'A party identifier: `<hint>::1220<64 hex digits>`.')

/**
 * A name that is looked up. Any text is a legal question, but one with a lone surrogate has no UTF-8
 * form, so that no replica could hold it and no canonical request could name it.
 */
export const LookupName = m.formed(
  WELL_FORMED_PATTERN,
  'The whole name, such as `alice.unverified.ns`.',
  { maxLength: ASKED_NAME_LENGTH_MAX },
)

export const pageSize = (items: string) =>
  m.integer(1, `The largest number of ${items} in the answer.`, { maximum: PAGE_SIZE_MAX })

/** Where a page of history begins. */
export function afterEventId(description: string) {
  const EventIdInput = Type.String({ pattern: '^([0-9]{16}:[0-9]{4})?$' })
  return Type.Optional(m.either(description, [EventIdInput, Type.Null()]))
}

export const PageToken = m.formed(PAGE_TOKEN_PATTERN, '`next_page_token` of the page before.')

/** `Offset` of `packages/model`. */
export const LedgerOffset = m.integer(0, 'A position in the log.', {
  maximum: Number.MAX_SAFE_INTEGER,
})

/** ISO-8601 UTC with `Z` and six fractional digits (D-4). */
export const Time = m.formed(
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$',
  'ISO-8601 UTC with six fractional digits.',
)

/** A decimal in an answer: exactly 10 fractional digits (D-4). */
export const Decimal = m.formed(
  '^-?[0-9]{1,28}\\.[0-9]{10}$',
  'A decimal with 10 fractional digits.',
)

/** A decimal in a request; `readAmount` of `packages/model` reads it, and has limits for its value. */
export const DecimalInput = m.formed(
  '^\\+?[0-9]+(\\.[0-9]*)?$',
  'An unsigned decimal. Its value has at most 28 digits before and 10 after the point.',
)

export const ContractId = m.formed('^00[0-9a-f]{64}$', 'A contract id: `00` and 64 hex digits.')

/** Any text that has a UTF-8 form, so that a canonical request can name it (D-41). */
export const WellFormedText = m.formed(WELL_FORMED_PATTERN, 'Any text.')

/** A contract id in a path or body. An unknown one returns 404, whatever its form. */
export const ContractIdInput = m.formed(WELL_FORMED_PATTERN, 'A contract id.', { maxLength: 255 })

/** An Ed25519 signature. */
export const Signature = m.formed('^[0-9a-f]{128}$', 'An Ed25519 signature in hex.')

export const Hex32 = m.formed('^[0-9a-f]{64}$', '32 bytes in hex.')

/** D-33. */
export const NodeName = m.formed('^[a-z0-9-]{1,32}$', 'The name of a node.')

/** Longest tolerated age of the record time at the pin; a year is "any". */
const AGE_MS_MAX = 31_536_000_000

/** Text, not an enumeration: which numbers are allowed depends on the genesis (INVALID_QUORUM). */
export const Quorum = m.about(
  Type.String(),
  'How many nodes must give the same answer: weak (f+1), strong, all, or a number from f+1 to n.',
  { pattern: '^(weak|strong|all|[1-9][0-9]*)$' },
)

/** The threshold of a request to the scan proxy. */
export const ProxyQuorum = m.about(
  Type.String(),
  'How many nodes must give the same answer: weak (f+1), strong, all, or a number from f+1 to n. With `certified` (weak) and `certified-strong`, and with each of the others if the certified form is accepted, the answer comes from a state that so many members signed.',
  { pattern: '^(weak|strong|all|[1-9][0-9]*|certified|certified-strong)$' },
)

export const MaxAgeMs = m.integer(
  0,
  'The largest age of the ledger time that the answer may have.',
  { maximum: AGE_MS_MAX },
)
