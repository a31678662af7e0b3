/** Parties of texts, with the reason why a text is none. What only looks names up does not load it. */
import { failure } from '../errors.ts'
import { isParty, type Party } from './party.ts'

const HINT_UNITS_MAX = 185
const FINGERPRINT_DIGITS = 64

/** Parses a typed or stored party, and trims it. @example parseParty(input.value) @throws {QuorumscanError} INVALID_PARTY. */
export function parseParty(typed: string): Party {
  const text = String(typed).trim()
  if (isParty(text)) return text
  throw failure('INVALID_PARTY', partyProblem(text))
}

/** Why the text is not a party, as a sentence. */
function partyProblem(text: string): string {
  const form = 'A party is a hint, "::", 1220 and 64 lower-case hex digits'
  const [hint = '', fingerprint, ...more] = text.split('::')
  if (fingerprint === undefined || more.length > 0) return `${form}.`
  if (hint === '') return `${form}: the hint is missing.`
  const foreign = /[^A-Za-z0-9_-]/u.exec(hint)?.[0]
  if (foreign !== undefined) {
    const code = foreign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
    return `${form}: the hint has "${foreign}" (U+${code}), not only A-Z, a-z, 0-9, "-" and "_".`
  }
  if (hint.length > HINT_UNITS_MAX)
    return `${form}: the hint has ${hint.length} characters, more than ${HINT_UNITS_MAX}.`
  if (!fingerprint.startsWith('1220')) return `${form}: what follows "::" does not begin with 1220.`
  const digits = fingerprint.slice('1220'.length)
  if (/^[0-9a-fA-F]*$/.test(digits)) {
    if (digits.length === FINGERPRINT_DIGITS) return `${form}: it has upper-case digits.`
    return `${form}: after 1220 it has ${digits.length} digits, not ${FINGERPRINT_DIGITS}. Copy it again.`
  }
  return `${form}: what follows 1220 has other characters. Copy it again.`
}
