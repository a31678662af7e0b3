import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseStrictJson } from './strict-json.ts'

const bounds = { depthMax: 64, valuesMax: 100 }
const nested = (depth: number, inner = '') => '['.repeat(depth) + inner + ']'.repeat(depth)

describe('strict JSON', () => {
  it('parses any JSON as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent).replaceAll('"__proto__"', '"proto"')
        expect(parseStrictJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it.each([
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '[{"b":{"c":[{"d":1 , "d" : 2}]}}]',
    '{"":0,"":0}',
    '{"a":{"x":1},"b":[],"a":0}',
  ])('refuses a duplicate member: %s', (text) => {
    expect(() => parseStrictJson(text)).toThrow(/twice/)
  })

  it.each(['{"a":{"a":1}}', '[{"a":1},{"a":1}]', '{"a":"a","b":"a"}', '{"a":"\\"a\\":"}'])(
    'accepts the same member name in different objects: %s',
    (text) => {
      expect(parseStrictJson(text)).toEqual(JSON.parse(text))
    },
  )

  it.each(['{"__proto__":1}', '[{"a":{"\\u005f_proto__":{}}}]'])(
    'refuses a member called __proto__: %s',
    (text) => {
      expect(() => parseStrictJson(text)).toThrow(/__proto__/)
    },
  )

  it('accepts a string as long as the longest answer in hex', () => {
    const answer = 'ab'.repeat(8 * 1024 * 1024)
    expect(parseStrictJson(`{"answer":"${answer}","offset":1}`)).toEqual({ answer, offset: 1 })
  })

  it.each(['', '{', '{"a":1,}', '01', "{'a':1}"])('refuses %j', (text) => {
    expect(() => parseStrictJson(text)).toThrow(SyntaxError)
  })

  it.each([
    ['64 levels', nested(64)],
    ['brackets in a string', nested(63, `["${'['.repeat(99)}"]`)],
    ['brackets after an escaped quote', nested(63, `["\\"${'{'.repeat(99)}"]`)],
    ['a string that ends with a backslash', nested(63, '["\\\\"]')],
    ['many that are open one after the other', `[${'{},'.repeat(45)}[]]`],
    ['as many values as allowed', `[${'0,'.repeat(98)}0]`],
    ['commas in a string', `["${','.repeat(200)}"]`],
  ])('accepts text within its bounds: %s', (_, text) => {
    expect(parseStrictJson(text, bounds)).toEqual(JSON.parse(text))
  })

  it.each([
    ['brackets', nested(65)],
    ['braces', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
    ['after a string with an escaped quote', nested(64, '["\\""],[]')],
    ['after a string that ends with a backslash', nested(64, '["\\\\"],[]')],
    ['one value too many', `[${'0,'.repeat(99)}0]`],
    ['empty lists', `[${'[],'.repeat(50)}[]]`],
  ])('refuses text beyond its bounds: %s', (_, text) => {
    expect(() => JSON.parse(text)).not.toThrow()
    expect(() => parseStrictJson(text, bounds)).toThrow(RangeError)
  })

  it('is never too deep for a recursive walk', () => {
    expect(() => parseStrictJson(nested(100_000))).toThrow(/levels/)
  })
})
