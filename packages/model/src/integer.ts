/** Integers as clients write them: with a sign, and zeros in front. */

/** An int64 has at most so many digits. Longer texts are not made numbers of. */
const DIGITS_MAX = 19
const INTEGER_TEXT = /^([+-]?)([0-9]+)$/

/** @returns undefined if the text is no integer; null if its value has more than 19 digits. */
export function readInteger(text: string): bigint | null | undefined {
  const [, sign, written] = INTEGER_TEXT.exec(text) ?? []
  if (written === undefined) return undefined
  const digits = withoutLeadingZeros(written)
  if (digits.length > DIGITS_MAX) return null
  return BigInt(`${sign === '-' ? '-' : ''}${digits || '0'}`)
}

/** A loop: regular expressions for it need quadratic time. */
export function withoutLeadingZeros(digits: string): string {
  let start = 0
  while (digits[start] === '0') start++
  return digits.slice(start)
}
