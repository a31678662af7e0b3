/** Amounts, times, contract ids and parties as texts. */
import { expect, it } from 'vitest'
import { parseParty } from './parse-party.ts'
import { isParty } from './party.ts'
import {
  addAmounts,
  compareAmounts,
  formatAmount,
  fromDate,
  isContractId,
  parseAmount,
  parseContractId,
  shortParty,
  toDate,
} from './values.ts'

const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT', definite: true })

it('amounts are added exactly', () => {
  expect(addAmounts()).toBe('0.0000000000')
  expect(addAmounts('0.1', '0.2')).toBe('0.3000000000')
  const large = '9007199254740993.0000000001'
  expect(addAmounts(large, '0.0000000002')).toBe('9007199254740993.0000000003')
  expect(addAmounts('1', '-1.5')).toBe('-0.5000000000')
  expect(addAmounts('-0.0000000001', '0.0000000001')).toBe('0.0000000000')
  const zeros = '0'.repeat(40)
  expect(addAmounts(`${zeros}1.5${zeros}`, '+1', '1.')).toBe('3.5000000000')
  expect(addAmounts('9'.repeat(28))).toBe(`${'9'.repeat(28)}.0000000000`)
  const tooLarge = `1${'0'.repeat(28)}`
  for (const wrong of ['', '1e3', '.5', '1,5', '0.00000000001', tooLarge, null as never])
    expect(() => addAmounts('1', wrong), String(wrong)).toThrow(refused)
})

it('amounts are compared as numbers, with any zeros', () => {
  expect(compareAmounts('2', '10')).toBe(-1)
  expect(compareAmounts('1.50', '1.5000000000')).toBe(0)
  expect(compareAmounts('0.0000000002', '0.0000000001')).toBe(1)
  expect(['10', '-1', '2'].sort(compareAmounts)).toEqual(['-1', '2', '10'])
})

it('typed amounts are read, and refused with a sentence', () => {
  expect(parseAmount(' 1.5 ')).toBe('1.5000000000')
  expect(parseAmount('007')).toBe('7.0000000000')
  expect(() => parseAmount('1,5')).toThrow('Write the amount with a point: 1.5.')
  for (const zero of ['0', '0.0', '-1'])
    expect(() => parseAmount(zero)).toThrow('greater than zero')
  for (const wrong of ['', 'ten', '1e3', '0.00000000001', undefined as never])
    expect(() => parseAmount(wrong), String(wrong)).toThrow(refused)
})

it('amounts are shown without the zeros at their end', () => {
  expect(['2.5000000000', '10.0000000000', '100', '0.0', '-1.50'].map(formatAmount)).toEqual([
    '2.5',
    '10',
    '100',
    '0',
    '-1.5',
  ])
})

it('times and dates are converted', () => {
  expect(toDate('2026-11-22T10:00:00.123456Z').toISOString()).toBe('2026-11-22T10:00:00.123Z')
  expect(fromDate(new Date('2026-11-22T10:00:00.123Z'))).toBe('2026-11-22T10:00:00.123000Z')
  expect(() => toDate('soon')).toThrow(refused)
  expect(() => fromDate(new Date(Number.NaN))).toThrow(refused)
})

it('a text is a contract id only by its form', () => {
  const id = `00${'a1'.repeat(32)}`
  expect(parseContractId(id)).toBe(id)
  for (const wrong of ['', 'alice::1220', id.slice(1), id.toUpperCase(), 7])
    expect(isContractId(wrong), String(wrong)).toBe(false)
  expect(() => parseContractId('00')).toThrow(refused)
})

it('a text is a party only by its form', () => {
  const party = `alice::1220${'0'.repeat(60)}09ab`
  expect(parseParty(` ${party}\n`)).toBe(party)
  expect(shortParty(party)).toBe('alice::12200000…09ab')
  expect(shortParty('alice')).toBe('alice')
  for (const wrong of ['', 'alice', 'alice::1220', party.toUpperCase(), `a b${party}`, 7])
    expect(isParty(wrong), String(wrong)).toBe(false)
  expect(() => parseParty('alice')).toThrow(expect.objectContaining({ code: 'INVALID_PARTY' }))
})
