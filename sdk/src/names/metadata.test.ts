import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatMetadata, parseMetadata, registryUrlsOf } from './metadata.ts'

const KEY = 'splice.lfdecentralizedtrust.org/registry-urls'
const OTHER_SPELLING = 'splice.lfdecentralizedtrust.org/registryUrls'

describe('metadata', () => {
  it('is read as it was written', () => {
    const keys = fc.stringMatching(/^([a-z]{1,8}\/)?[a-z0-9]{1,8}$/)
    fc.assert(
      fc.property(fc.dictionary(keys, fc.string({ maxLength: 5 }), { maxKeys: 3 }), (metadata) => {
        expect(parseMetadata(formatMetadata(metadata))).toEqual({ ...metadata })
      }),
    )
  })

  it.each([
    ['words', 'the one and only'],
    ['JSON without meta', '{"other":{}}'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a number', '7'],
    ['a list of metadata', '{"meta":["a"]}'],
    ['a value that is not a text', '{"meta":{"a":1}}'],
  ])('is missing in %s', (_, description) => {
    expect(parseMetadata(description)).toBeNull()
  })

  it.each([
    ['a', true],
    [KEY, true],
    [OTHER_SPELLING, true],
    [`${'a'.repeat(253)}/${'b'.repeat(63)}`, true],
    [`${'a'.repeat(254)}/b`, false],
    ['b'.repeat(64), false],
    ['-a', false],
    ['a-', false],
    ['a b', false],
    ['/a', false],
    ['A.example/a', false],
    ['a//b', false],
    ['', false],
  ])('takes the key "%s": %s', (key, isKey) => {
    expect(parseMetadata(JSON.stringify({ meta: { [key]: 'x' } }))).toEqual(
      isKey ? { [key]: 'x' } : {},
    )
  })

  it('says by how much it is too long', () => {
    const fits = { a: 'x'.repeat(140 - '{"meta":{"a":""}}'.length) }
    expect(formatMetadata(fits)).toHaveLength(140)
    expect(() => formatMetadata({ a: `${fits.a}xyz` })).toThrow(
      expect.objectContaining({
        code: 'INVALID_DESCRIPTION',
        message: expect.stringContaining('3 too long'),
        details: expect.objectContaining({ excess: 3 }),
      }),
    )
  })
})

describe('URLs of a registry', () => {
  it('are the https URLs of either spelling, the first of CIP-0056 before the second', () => {
    const [one, two] = ['https://registry.example/a', 'https://other.example']
    expect(registryUrlsOf({ [KEY]: `${one}, ${two}` })).toEqual([one, two])
    expect(registryUrlsOf({ [OTHER_SPELLING]: two })).toEqual([two])
    expect(registryUrlsOf({ [OTHER_SPELLING]: two, [KEY]: one })).toEqual([one])
  })

  it('leave out what is not one', () => {
    const value = 'http://registry.example,javascript:alert(1),https://,  https://a.example ,'
    expect(registryUrlsOf({ [KEY]: value })).toEqual(['https://a.example'])
    expect(registryUrlsOf({ [KEY]: '' })).toEqual([])
    expect(registryUrlsOf(null)).toEqual([])
  })
})
