import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalText, type JsonValue, parseExactJson } from './exact-json.ts'

describe('parseExactJson', () => {
  it.each([
    ['12345678901234567890', '12345678901234567890'],
    ['[9007199254740993, -9007199254740993]', ['9007199254740993', '-9007199254740993']],
    ['0.1234567890123456789', '0.1234567890123456789'],
    ['1e400', '1e400'],
    ['1e-400', '1e-400'],
    ['[9007199254740992,0.1,-0,1.50,15e-1,1E3]', [9007199254740992, 0.1, -0, 1.5, 1.5, 1000]],
    [
      '{"12345678901234567890":"12345678901234567890"}',
      { '12345678901234567890': '12345678901234567890' },
    ],
    ['"\\"12345678901234567890\\\\"', '"12345678901234567890\\'],
  ])('reads %s without rounding', (text, value) => {
    expect(parseExactJson(text)).toEqual(value)
  })

  it.each([
    '012345678901234567890',
    '1.2.3',
    '-',
    '"a',
    '{"a":1,"a":1}',
    '{"__proto__":1}',
    '1'.repeat(101),
    '['.repeat(101) + ']'.repeat(101),
    '12345678901234567890x',
    '{12345678901234567890:1}',
    '{1e400 : 1}',
  ])('refuses %s', (text) => {
    expect(() => parseExactJson(text)).toThrow()
  })

  it('parses as JSON.parse if no number is rounded', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(!text.includes('__proto__')) // Refused on purpose.
        expect(parseExactJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('takes linear time', () => {
    const length = 2_000_000
    for (const piece of ['"\\"', '"\\\\', '1 ', '-', '[', '"'])
      expect(() => parseExactJson(piece.repeat(length / piece.length)), piece).toThrow()
  })
})

describe('canonicalText', () => {
  const shuffled = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(shuffled)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, shuffled(member)]),
    )
  }

  it('is independent of the order of members, and differs for other values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (first, second) => {
        const [a, b] = [first as JsonValue, second as JsonValue]
        expect(canonicalText(shuffled(a))).toBe(canonicalText(a))
        expect(canonicalText(a) === canonicalText(b)).toBe(
          JSON.stringify(shuffled(shuffled(a))) === JSON.stringify(shuffled(shuffled(b))),
        )
      }),
    )
  })

  it('keeps the order of arrays', () => {
    expect(canonicalText([1, 2])).not.toBe(canonicalText([2, 1]))
  })
})
