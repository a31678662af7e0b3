import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatMetadata, parseMetadata, registryUrlsOf } from './metadata.ts'

const KEY = 'splice.lfdecentralizedtrust.org/registry-urls'
const OTHER_SPELLING = 'splice.lfdecentralizedtrust.org/registryUrls'

/** By the words of the documentation of Kubernetes, part by part. */
function isAnnotationKey(key: string): boolean {
  const parts = key.split('/')
  const name = parts.pop() ?? ''
  const isName =
    name.length <= 63 && /^[\w.-]+$/.test(name) && /^[^_.-]/.test(name) && /[^_.-]$/.test(name)
  if (parts.length === 0) return isName
  const [subdomain = ''] = parts
  const isLabel = (label: string) => /^[a-z0-9-]+$/.test(label) && !/^-|-$/.test(label)
  return (
    isName && parts.length === 1 && subdomain.length <= 253 && subdomain.split('.').every(isLabel)
  )
}

describe('metadata', () => {
  it('is read as it was written, and written alike in any order', () => {
    const keys = fc.stringMatching(/^([a-z]{1,8}\/)?[a-z0-9]{1,8}$/)
    fc.assert(
      fc.property(fc.dictionary(keys, fc.string({ maxLength: 5 }), { maxKeys: 3 }), (metadata) => {
        const text = formatMetadata(metadata)
        expect(parseMetadata(text)).toEqual({ ...metadata })
        const reversed = Object.fromEntries(Object.entries(metadata).reverse())
        expect(formatMetadata(reversed)).toBe(text)
      }),
    )
  })

  it('has the keys of Kubernetes annotations, and no others', () => {
    const label = fc.stringMatching(/^[a-z0-9-]{0,4}$/)
    const subdomain = fc.array(label, { minLength: 1, maxLength: 3 }).map((each) => each.join('.'))
    const name = fc.stringMatching(/^[A-Za-z0-9._-]{0,6}$/)
    const keys = fc.oneof(
      name,
      fc.tuple(subdomain, name).map((parts) => parts.join('/')),
      fc.string(),
      fc
        .tuple(fc.integer({ min: 250, max: 256 }), fc.integer({ min: 61, max: 65 }))
        .map(([first, second]) => `${'a'.repeat(first)}/${'b'.repeat(second)}`),
    )
    fc.assert(
      fc.property(keys, (key) => {
        const expected = isAnnotationKey(key) ? { [key]: 'x' } : {}
        expect(parseMetadata(`{"meta":{${JSON.stringify(key)}:"x"}}`)).toEqual(expected)
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

  it('reports by how much it is too long', () => {
    const fits = { a: 'x'.repeat(140 - '{"meta":{"a":""}}'.length) }
    expect(formatMetadata(fits)).toHaveLength(140)
    expect(() => formatMetadata({ a: `${fits.a}xyz` })).toThrow(
      expect.objectContaining({
        code: 'INVALID_DESCRIPTION',
        message: expect.stringContaining('3 UTF-16 units too long'),
        details: expect.objectContaining({ excess: 3 }),
      }),
    )
  })
})

describe('URLs of a registry', () => {
  it('are written under the first spelling of the key, from a list or as they are', () => {
    const registryUrls = ['https://one.example', 'https://two.example']
    const value = registryUrls.join(',')
    expect(parseMetadata(formatMetadata({ registryUrls }))).toEqual({ [KEY]: value })
    expect(parseMetadata(formatMetadata({ [KEY]: value }))).toEqual({ [KEY]: value })
  })

  it.each([
    { registryUrls: 'https://one.example' as never },
    { registryUrls: [] },
    { registryUrls: ['http://one.example'] },
    { registryUrls: ['https://one.example,https://two.example'] },
    { registryUrls: null as never },
    { registryUrls: ['https://one.example'], [KEY]: 'https://two.example' } as never,
    { [KEY]: '["https://one.example"]' },
    { [KEY]: '' },
    { [OTHER_SPELLING]: 'https://one.example' },
  ])('are refused in another form, and not rewritten: %j', (metadata) => {
    expect(() => formatMetadata(metadata)).toThrow(
      expect.objectContaining({ code: 'INVALID_DESCRIPTION' }),
    )
  })

  it.each([
    ['a key', { 'a b': 'x' }, 'the key "a b"'],
    ['a value', { a: 1 as unknown as string }, '"a" is not a string'],
  ])('%s that is invalid is not written', (_, metadata, message) => {
    expect(() => formatMetadata(metadata)).toThrow(
      expect.objectContaining({
        code: 'INVALID_DESCRIPTION',
        message: expect.stringContaining(message),
      }),
    )
  })

  it('are those of either spelling of the key, the first of CIP-0056 preferred', () => {
    const [one, two] = ['https://registry.example/a', 'https://other.example']
    expect(registryUrlsOf({ [KEY]: `${one}, ${two}` })).toEqual([one, two])
    expect(registryUrlsOf({ [OTHER_SPELLING]: two })).toEqual([two])
    expect(registryUrlsOf({ [OTHER_SPELLING]: two, [KEY]: one })).toEqual([one])
  })

  it('leave out a value that is not an https URL', () => {
    const value = 'http://registry.example,javascript:alert(1),https://,  https://a.example ,'
    expect(registryUrlsOf({ [KEY]: value })).toEqual(['https://a.example'])
    expect(registryUrlsOf({ [KEY]: '' })).toEqual([])
    expect(registryUrlsOf(null)).toEqual([])
  })
})
