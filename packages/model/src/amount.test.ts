import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AMOUNT_SCALE, ceilDivide, formatAmount, parseAmount, readAmount } from './amount.ts'

describe('amounts', () => {
  it.each([
    ['0', 0n, '0.0000000000'],
    ['1', AMOUNT_SCALE, '1.0000000000'],
    ['0.0000000001', 1n, '0.0000000001'],
    ['-0.5', -5_000_000_000n, '-0.5000000000'],
    ['200.0', 200n * AMOUNT_SCALE, '200.0000000000'],
  ])('reads %s and writes ten digits', (text, amount, wire) => {
    expect(parseAmount(text)).toBe(amount)
    expect(formatAmount(amount)).toBe(wire)
  })

  it.each([
    '',
    '.',
    '1.',
    '.5',
    '+1',
    '1e3',
    '0.00000000001',
    ' 1',
    '1 ',
    '٣',
    'NaN',
    '1'.repeat(29),
  ])('refuses %j instead of rounding or guessing', (text) =>
    expect(parseAmount(text)).toBeUndefined(),
  )

  it.each([
    ['1.00000000000', AMOUNT_SCALE],
    ['+1', AMOUNT_SCALE],
    ['1.', AMOUNT_SCALE],
    [`-${'0'.repeat(40)}0.5`, -AMOUNT_SCALE / 2n],
    [`${'9'.repeat(28)}.${'9'.repeat(10)}${'0'.repeat(99)}`, 10n ** 38n - 1n],
  ])('of clients may have more digits than their value needs: %s', (text, amount) => {
    expect(readAmount(text)).toBe(amount)
    // The ledger's own reader refuses what it always refused.
    if (!/^-?[0-9]{1,28}$/.test(text)) expect(parseAmount(text)).toBeUndefined()
  })

  it.each(['', '.', '.5', '1e3', '0.00000000001', ' 1', '٣', '1'.repeat(29), '--1', '1.0.0'])(
    'of clients are not %j',
    (text) => expect(readAmount(text)).toBeUndefined(),
  )

  it('writes what it reads back', () => {
    const amount = fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n })
    fc.assert(fc.property(amount, (value) => parseAmount(formatAmount(value)) === value))
  })

  it('rounds USD to coin up, by less than one unit', () => {
    const positive = fc.bigInt({ min: 1n, max: 10n ** 20n })
    fc.assert(
      fc.property(positive, positive, (usd, price) => {
        const coin = ceilDivide(usd, price)
        return coin * price >= usd * AMOUNT_SCALE && (coin - 1n) * price < usd * AMOUNT_SCALE
      }),
    )
    expect(ceilDivide(AMOUNT_SCALE, 50_000_000n)).toBe(200n * AMOUNT_SCALE)
    expect(ceilDivide(AMOUNT_SCALE, 3n * AMOUNT_SCALE)).toBe(3_333_333_334n)
  })
})
