/** Values of the ledger as texts: amounts, contract ids, parties and times. All exports are public. */
import { formatInstant } from '@quorumscan/verifier'
import { failure, invalidArgument } from '../errors.ts'
import { microsOf } from './clock.ts'
import { shownValue } from './shown-value.ts'

const SCALE = 10
const AMOUNT = /^([+-]?)([0-9]+)(?:\.([0-9]*))?$/
/** Digits before the point. */
const WHOLE_DIGITS_MAX = 28

/**
 * The exact sum of amounts, with ten digits after the point; without amounts it is zero.
 *
 * @example addAmounts('1.5', '0.25') // '1.7500000000'
 * @throws {QuorumscanError} INVALID_ARGUMENT.
 */
export function addAmounts(...amounts: readonly string[]): string {
  const sum = amounts.map(unitsOf).reduce((a, b) => a + b, 0n)
  const digits = String(sum < 0n ? -sum : sum).padStart(SCALE + 1, '0')
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`
}

/** Compares two amounts, for `sort`: less than 0, 0, or greater. @throws {QuorumscanError} INVALID_ARGUMENT. */
export function compareAmounts(a: string, b: string): number {
  const [left, right] = [unitsOf(a), unitsOf(b)]
  return left < right ? -1 : Number(left > right)
}

/**
 * A typed amount, of coin or of USD, in the form of the ledger: trimmed, and greater than zero.
 *
 * @example parseAmount(' 1.5 ') // '1.5000000000'
 * @throws {QuorumscanError} INVALID_ARGUMENT, with a sentence to show.
 */
export function parseAmount(typed: string): string {
  const text = String(typed).trim()
  if (/^[0-9]+,[0-9]*$/.test(text))
    throw invalidArgument(`Write the amount with a point: ${text.replace(',', '.')}.`)
  const amount = addAmounts(text)
  if (compareAmounts(amount, '0') > 0) return amount
  throw invalidArgument('An amount must be greater than zero.')
}

/**
 * An amount for a person, without the zeros at its end.
 *
 * @example formatAmount('2.5000000000') // '2.5'
 * @throws {QuorumscanError} INVALID_ARGUMENT.
 */
export function formatAmount(amount: string): string {
  return addAmounts(amount).replace(/\.?0+$/, '')
}

function unitsOf(amount: string): bigint {
  const [, sign, whole = '', fraction = ''] = AMOUNT.exec(String(amount)) ?? []
  // Zeros in front and at the end do not change the value.
  const first = [...whole].findIndex((digit) => digit !== '0')
  const wholeDigits = first < 0 ? 0 : whole.length - first
  const isExact = [...fraction.slice(SCALE)].every((digit) => digit === '0')
  if (whole === '' || wholeDigits > WHOLE_DIGITS_MAX || !isExact) {
    const message = `An amount must be a decimal text with at most 10 digits after the point, such as "1.50", not ${shownValue(amount)}.`
    throw invalidArgument(message)
  }
  const digits = `${whole.slice(-WHOLE_DIGITS_MAX)}${fraction.slice(0, SCALE).padEnd(SCALE, '0')}`
  return BigInt(`${sign === '-' ? '-' : ''}${digits}`)
}

declare const contractIdBrand: unique symbol
/** The id of a contract on the ledger: `00` and hex digits. `parseContractId` makes one of a text. */
export type ContractId = string & { readonly [contractIdBrand]: 'ContractId' }

/** Whether the text has the form of a contract id. Only the ledger knows whether the contract exists. */
export function isContractId(text: unknown): text is ContractId {
  return typeof text === 'string' && /^00[0-9a-f]{64,}$/.test(text)
}

/** Parses a contract id. @throws {QuorumscanError} INVALID_ARGUMENT if the text has another form. */
export function parseContractId(text: string): ContractId {
  if (isContractId(text)) return text
  throw invalidArgument(
    `A contract id must be 00 and 64 or more lower-case hex digits, not ${shownValue(text)}.`,
  )
}

declare const partyBrand: unique symbol
/** The id of a party: a hint, `::`, and its fingerprint. `parseParty` makes one of a text. */
export type Party = string & { readonly [partyBrand]: 'Party' }

const PARTY = /^([A-Za-z0-9_-]{1,185})::(1220[0-9a-f]{64})$/
const HINT_UNITS_MAX = 185
const FINGERPRINT_DIGITS = 64
/** Digits of the fingerprint to show from each end. */
const [FIRST_DIGITS, LAST_DIGITS] = [8, 4]
/** A longer hint would push the fingerprint out of sight. */
const SHOWN_HINT_LENGTH_MAX = 32

/**
 * Whether the text has the form of a party, and so cannot be a name. Only the ledger knows whether the party exists.
 *
 * @example const party = isParty(typed) ? typed : await scan.names.resolve(typed)
 */
export function isParty(text: unknown): text is Party {
  return typeof text === 'string' && PARTY.test(text)
}

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

/**
 * A short form for display: `alice::12205c3f…09ab`, with at most 32 characters of the hint. It does not identify the
 * party, which chose the hint itself.
 *
 * @example shortParty(party) // 'alice::12205c3f…09ab'
 * @returns A text that is not a party unchanged.
 */
export function shortParty(party: string): string {
  const [, hint = '', fingerprint] = PARTY.exec(party) ?? []
  if (fingerprint === undefined) return party
  const shown =
    hint.length > SHOWN_HINT_LENGTH_MAX ? `${hint.slice(0, SHOWN_HINT_LENGTH_MAX - 1)}…` : hint
  return `${shown}::${fingerprint.slice(0, FIRST_DIGITS)}…${fingerprint.slice(-LAST_DIGITS)}`
}

/**
 * Converts a time of the SDK (ISO-8601 UTC with six fractional digits) to a `Date`, in ms.
 *
 * @example toDate(entry.expiresAt).toLocaleDateString()
 * @throws {QuorumscanError} INVALID_ARGUMENT.
 */
export function toDate(time: string): Date {
  return new Date(Math.floor(microsOf(time) / 1000))
}

/** Converts a `Date` to a time of the SDK. @throws {QuorumscanError} INVALID_ARGUMENT if it is invalid, or before 1970. */
export function fromDate(date: Date): string {
  const ms = Number(date)
  if (!(ms >= 0 && Number.isSafeInteger(ms * 1000)))
    throw invalidArgument('The date is invalid, or before 1970.')
  return formatInstant(ms * 1000)
}
