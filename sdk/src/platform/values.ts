/** Values of the ledger as texts: amounts, contract ids, parties and times. All exports are public, as those of `party.ts`. */
import { formatInstant } from '@quorumscan/verifier'
import { invalidArgument } from '../errors.ts'
import { PARTY } from './party.ts'
import { shownValue } from './shown-value.ts'
import { microsOf } from './times.ts'

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

/** Digits of the fingerprint to show from each end. */
const [FIRST_DIGITS, LAST_DIGITS] = [8, 4]
/** A longer hint would push the fingerprint out of sight. */
const SHOWN_HINT_LENGTH_MAX = 32

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
