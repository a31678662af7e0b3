/** Decimals of the ledger: integers scaled by 10^10 (Daml Numeric 10), never floats. */

import { withoutLeadingZeros } from './integer.ts'

/** A decimal times 10^10. */
export type Amount = bigint

export const AMOUNT_SCALE = 10_000_000_000n
/** Daml Decimal: at most 28 digits before the point. */
const AMOUNT_MAX = 10n ** 38n

/** Exactly 10 fractional digits (D-4). */
export function formatAmount(amount: Amount): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(11, '0')
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -10)}.${digits.slice(-10)}`
}

/**
 * Reads `-?digits[.digits]`: at most 28 digits before and 10 after the point. The ledger reads entries with it, so what
 * it accepts never changes. `readAmount` reads what people and clients write.
 *
 * @returns undefined for anything else; more than 10 fractional digits are refused, not rounded.
 */
export function parseAmount(text: string): Amount | undefined {
  const match = /^(-?)([0-9]{1,28})(?:\.([0-9]{1,10}))?$/.exec(text)
  if (match === null) return undefined
  const magnitude =
    BigInt(match[2] as string) * AMOUNT_SCALE + BigInt((match[3] ?? '').padEnd(10, '0'))
  if (magnitude >= AMOUNT_MAX) return undefined
  return match[1] === '-' ? -magnitude : magnitude
}

const DECIMAL_TEXT = /^([+-]?)([0-9]+)(?:\.([0-9]*))?$/

/**
 * Reads a decimal as clients write it: a sign, zeros in front and zeros at the end do not count against the 28 digits
 * before and the 10 after the point.
 *
 * @returns undefined if the text is no decimal, or its value has more digits: nothing is rounded.
 */
export function readAmount(text: string): Amount | undefined {
  const match = DECIMAL_TEXT.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = ''] = match
  const integer = withoutLeadingZeros(whole) || '0'
  let end = fraction.length
  while (fraction[end - 1] === '0') end--
  const digits = fraction.slice(0, end)
  return parseAmount(`${sign === '-' ? '-' : ''}${integer}${digits === '' ? '' : `.${digits}`}`)
}

/** `a / b` at 10 digits, rounded up: USD to coin (D-4). For a ≥ 0, b > 0. */
export function ceilDivide(a: Amount, b: Amount): Amount {
  return (a * AMOUNT_SCALE + b - 1n) / b
}
