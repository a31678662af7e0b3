/** Amounts of coin: decimal texts, added and compared exactly. A `number` would lose digits. */
import { invalidArgument } from '../errors.ts'

const SCALE = 10
const AMOUNT = /^(-?)(\d{1,28})(?:\.(\d{1,10}))?$/

/** The sum, with ten digits after the point; of nothing it is zero. @throws {QuorumscanError} INVALID_ARGUMENT. */
export function addAmounts(...amounts: readonly string[]): string {
  const sum = amounts.map(unitsOf).reduce((a, b) => a + b, 0n)
  const digits = String(sum < 0n ? -sum : sum).padStart(SCALE + 1, '0')
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`
}

/** Less than 0, 0 or greater: as `sort` takes it. @throws {QuorumscanError} INVALID_ARGUMENT. */
export function compareAmounts(a: string, b: string): number {
  const [left, right] = [unitsOf(a), unitsOf(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

function unitsOf(amount: string): bigint {
  const [, sign, whole, fraction = ''] = AMOUNT.exec(String(amount)) ?? []
  if (whole === undefined)
    throw invalidArgument(
      'An amount is a decimal text with at most 10 digits after the point, such as "1.50".',
    )
  return BigInt(`${sign}${whole}${fraction.padEnd(SCALE, '0')}`)
}
