/** Texts of the ledger interface with a grammar (docs/upstream.md §L4.8), and what it bounds. */
import { Type } from 'typebox'
import * as m from '../members.ts'

export const LEDGER_STRING_PATTERN = '^[A-Za-z0-9._:\\-#/ ]{1,255}$'
export const LEDGER_PARTY_PATTERN = '^[A-Za-z0-9:\\-_ ]{1,255}$'
export const USER_ID_PATTERN = "^[a-zA-Z0-9@^$.!`\\-#+'~_|:()]{1,128}$"
export const PACKAGE_ID_PATTERN = '^[A-Za-z0-9\\-_ ]{1,64}$'
export const SYNCHRONIZER_ID_PATTERN = '^[A-Za-z0-9\\-_ ]{1,185}::[A-Za-z0-9\\-_ ]{1,68}$'
/** A hash and a suffix of up to 94 bytes, or 12 bytes and a suffix of up to 33. */
export const LEDGER_CONTRACT_ID_PATTERN =
  '^(?:00[0-9a-f]{64}(?:[0-9a-f]{2}){0,94}|01[0-9a-f]{24}(?:[0-9a-f]{2}){0,33})$'

/** Upstream's limit of passes; its default is 3. */
export const TAPS_PASSES_MAX = 4
/** The limits of the ledger (Rule 1): a larger submission is refused before it is signed. */
export const COMMANDS_MAX = 100
/** Parties of actAs and readAs together. */
export const SUBMITTERS_MAX = 200
export const DISCLOSED_MAX = 100

export const emptyOr = (pattern: string) => `^$|${pattern}`

export const LedgerParty = m.formed(LEDGER_PARTY_PATTERN, 'A party identifier.')
export const LedgerContractId = m.formed(LEDGER_CONTRACT_ID_PATTERN, 'The id of a contract, hex.')
export const Choice = m.formed('^[A-Za-z$_][A-Za-z0-9$_]{0,999}$', 'The name of the choice.')

export const ledgerString = (description: string) => m.formed(LEDGER_STRING_PATTERN, description)

/** A member that may be left out; an empty text is as good as none. */
const orNone = (pattern: string) => (description: string) =>
  Type.Optional(m.formed(emptyOr(pattern), description))
export const ledgerStringOrNone = orNone(LEDGER_STRING_PATTERN)
export const synchronizerIdOrNone = orNone(SYNCHRONIZER_ID_PATTERN)
export const userIdOrNone = orNone(USER_ID_PATTERN)
export const contractIdOrNone = orNone(LEDGER_CONTRACT_ID_PATTERN)
