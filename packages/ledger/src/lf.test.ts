import { canonicalJson } from '@quorumscan/verifier'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  bool,
  contractId,
  decimal,
  enumeration,
  int,
  LfError,
  list,
  optional,
  party,
  record,
  relTime,
  text,
  time,
  unit,
  variant,
} from './lf.ts'
import { PackReader, PackWriter } from './packing.ts'

const PARTY = `alice::1220${'ab'.repeat(32)}`
const CID = `00${'cd'.repeat(32)}`
const pair = record('Pair', { first: text, second: optional(int) })
const choice = variant('Choice', { A: pair, B: unit })

it.each([
  ['Text', text, 'é', 'é'],
  ['Party', party, PARTY, PARTY],
  ['ContractId', contractId, CID, CID],
  ['Decimal', decimal, '12.5', 125_000_000_000n],
  ['Decimal below zero', decimal, '-0.0000000001', -1n],
  ['Int', int, '-42', -42],
  ['Time', time, '1970-01-01T00:00:01.5Z', 1_500_000],
  ['RelTime', relTime, { microseconds: '7' }, 7],
  ['Bool', bool, true, true],
  ['Unit', unit, {}, {}],
  ['Optional, None', optional(int), null, null],
  ['Optional, Some', optional(int), '1', 1],
  ['List', list(int), ['1', '2'], [1, 2]],
  ['Record, any order', pair, { second: '2', first: 'a' }, { first: 'a', second: 2 }],
  ['Record, None left out', pair, { first: 'a' }, { first: 'a', second: null }],
  ['Record, unknown null', pair, { first: 'a', third: null }, { first: 'a', second: null }],
  ['Variant', choice, { tag: 'B', value: {} }, { tag: 'B', value: {} }],
  ['Enum', enumeration('E', ['X', 'Y']), 'Y', 'Y'],
] as const)('%s decodes', (_name, type, value, want) => {
  expect(type.decode(value, [])).toEqual(want)
})

it.each([
  ['Text', text, 1, ''],
  ['Text, lone surrogate', text, '\ud800', ''],
  ['Party', party, 'alice', ''],
  ['ContractId', contractId, `00${'CD'.repeat(32)}`, ''],
  ['Decimal, number', decimal, 1, ''],
  ['Decimal, 11 digits', decimal, '0.00000000001', ''],
  ['Decimal, exponent', decimal, '1e3', ''],
  ['Decimal, 29 digits', decimal, '1'.repeat(29), ''],
  ['Int, number', int, 1, ''],
  ['Int, leading zero', int, '01', ''],
  ['Int, minus zero', int, '-0', ''],
  ['Int, unsafe', int, '9007199254740992', ''],
  ['Time', time, '2023-02-30T00:00:00Z', ''],
  ['RelTime', relTime, { microseconds: 7 }, 'microseconds'],
  ['Bool', bool, 'true', ''],
  ['Unit', unit, { x: 1 }, ''],
  ['List', list(int), ['1', 2], '[1]'],
  ['List, object', list(int), {}, ''],
  ['Record, missing', pair, {}, 'first'],
  ['Record, unknown', pair, { first: 'a', third: 1 }, 'third'],
  ['Record, array', pair, [], ''],
  ['Record, inherited', record('R', { toString: text }), {}, 'toString'],
  ['Variant, unknown tag', choice, { tag: 'C', value: {} }, 'value.tag'],
  ['Variant, inherited tag', choice, { tag: 'toString', value: {} }, 'value.tag'],
  ['Variant, no value', choice, { tag: 'B' }, ''],
  ['Variant, surplus', choice, { tag: 'B', value: {}, x: null }, ''],
  ['Variant, inside', choice, { tag: 'A', value: { first: 1 } }, 'value.first'],
  ['Enum', enumeration('E', ['X', 'Y']), 'Z', ''],
] as const)('%s is refused, with the path', (_name, type, value, path) => {
  let caught: unknown
  try {
    type.decode(value, [])
  } catch (error) {
    caught = error
  }
  expect(caught).toBeInstanceOf(LfError)
  expect((caught as LfError).path).toBe(path)
})

it.each([
  ['Decimal', () => decimal.encode(10n ** 38n)],
  ['Decimal below zero', () => decimal.encode(-(10n ** 38n))],
  ['Int', () => int.encode(2 ** 53)],
  ['Time', () => time.encode(2 ** 53)],
  ['Time before 1970', () => time.encode(-1)],
])('%s is not encoded beyond its range', (_name, encode) => {
  expect(encode).toThrow(LfError)
})

it('contract ids inside a value are collected', () => {
  const ids: string[] = []
  record('R', { a: contractId, b: list(optional(contractId)) }).decode(
    { a: CID, b: [null, CID] },
    ids,
  )
  expect(ids).toEqual([CID, CID])
})

it('encoded and packed values decode to the same value, and encode canonically', () => {
  const type = record('All', {
    amount: decimal,
    owner: party,
    friends: list(party),
    about: contractId,
    unit: enumeration('E', ['X', 'Y']),
    at: time,
    lasting: relTime,
    items: list(optional(text)),
    choice,
    flag: bool,
  })
  const parties = fc.constantFrom('a', 'b').map((hint) => `${hint}::1220${'ab'.repeat(32)}`)
  // Beginnings and ends that the stored form leaves out, alone, overlapping and around other text.
  const affixed = fc
    .tuple(
      fc.constantFrom('', 'https://', 'http://', 'ANS entry: "', 'https:/'),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('', '.unverified.ns', '.unverified.ns"', '.ns', 'https://'),
    )
    .map((parts) => parts.join(''))
  const values = fc.record({
    owner: parties,
    friends: fc.array(parties),
    about: fc.constant(CID),
    unit: fc.constantFrom('X' as const, 'Y' as const),
    amount: fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }),
    at: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    lasting: fc.maxSafeInteger().map((value) => value || 0),
    items: fc.array(fc.option(fc.oneof(fc.string({ unit: 'grapheme' }), affixed))),
    choice: fc.oneof(
      fc.constant({ tag: 'B' as const, value: {} }),
      fc.record({
        tag: fc.constant('A' as const),
        value: fc.record({ first: fc.string(), second: fc.option(fc.nat()) }),
      }),
    ),
    flag: fc.boolean(),
  })
  fc.assert(
    fc.property(values, (value) => {
      const encoded = type.encode(value)
      expect(type.encode(type.decode(encoded, []))).toEqual(encoded)
      expect(type.decode(encoded, [])).toEqual(value)
      const writer = new PackWriter()
      type.pack(value, writer)
      expect(type.unpack(new PackReader(writer.finish()))).toEqual(value)
      expect(JSON.stringify(encoded)).toBe(canonicalJson(encoded))
    }),
  )
})
