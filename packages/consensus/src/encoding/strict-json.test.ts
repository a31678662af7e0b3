import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseStrictJson } from './strict-json.ts'

describe('strict JSON', () => {
  it('is JSON, whatever the texts in it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
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
  ])('has no member twice: %s', (text) => {
    expect(() => parseStrictJson(text)).toThrow(/twice/)
  })

  it.each(['{"a":{"a":1}}', '[{"a":1},{"a":1}]', '{"a":"a","b":"a"}', '{"a":"\\"a\\":"}'])(
    'may have the same name in different places: %s',
    (text) => {
      expect(parseStrictJson(text)).toEqual(JSON.parse(text))
    },
  )

  it('may hold a text as long as the longest answer in hex', () => {
    const answer = 'ab'.repeat(8 * 1024 * 1024)
    expect(parseStrictJson(`{"answer":"${answer}","offset":1}`)).toEqual({ answer, offset: 1 })
  })

  it.each(['', '{', '{"a":1,}', '01', "{'a':1}"])('is not %j', (text) => {
    expect(() => parseStrictJson(text)).toThrow(SyntaxError)
  })
})
