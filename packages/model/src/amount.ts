/** Decimals of the ledger: integers scaled by 10^10 (Daml Numeric 10), never floats. */

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
 * Reads `-?digits[.digits]`: at most 28 digits before and 10 after the point.
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

/** `a / b` at 10 digits, rounded up: USD to coin (D-4). For a ≥ 0, b > 0. */
export function ceilDivide(a: Amount, b: Amount): Amount {
  return (a * AMOUNT_SCALE + b - 1n) / b
}
