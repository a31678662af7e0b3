/** What a caller asks of a verified read (D-36, D-39). */
import { Type } from 'typebox'
import * as m from './members.ts'

/** Longest tolerated age of the record time at the pin; a year is "any". */
const AGE_MS_MAX = 31_536_000_000

/** Text, not an enumeration: which numbers are allowed depends on the genesis (INVALID_QUORUM). */
export const Quorum = m.about(
  Type.String(),
  'How many nodes must give the same answer: weak (f+1), strong, all, or a number from f+1 to n.',
  { pattern: '^(weak|strong|all|[1-9][0-9]*)$' },
)

/** Of the scan proxy. */
export const ProxyQuorum = m.about(
  Type.String(),
  'How many nodes must give the same answer: weak (f+1), strong, all, or a number from f+1 to n. With `certified` (weak) and `certified-strong` the answer is read from a state that so many members signed; so it is with each of the others where the certified form is accepted.',
  { pattern: '^(weak|strong|all|[1-9][0-9]*|certified|certified-strong)$' },
)

export const MaxAgeMs = Type.Integer({
  minimum: 0,
  maximum: AGE_MS_MAX,
  description: 'The largest age of the ledger time that the answer may have.',
})
