/** Typed names, and the error messages for texts that cannot be names. */
import { describe, expect, it } from 'vitest'
import { isName, normalizeName } from './name-rules.ts'
import { parseName, parsePrefix, parseRegistrableName } from './parse-name.ts'

const LONGEST = 'a'.repeat(46)

describe('a typed text', () => {
  it.each([
    ['alice.unverified.ns', 'alice.unverified.ns', 'alice', '.unverified.ns'],
    [' Alice.Unverified.NS\n', 'alice.unverified.ns', 'alice', '.unverified.ns'],
    ['alice', 'alice.unverified.ns', 'alice', '.unverified.ns'],
    ['A_b-3', 'a_b-3.unverified.ns', 'a_b-3', '.unverified.ns'],
    [LONGEST, `${LONGEST}.unverified.ns`, LONGEST, '.unverified.ns'],
    ['DSO.ns', 'dso.ns', 'dso', '.ns'],
    ['sv-1.sv.ns', 'sv-1.sv.ns', 'sv-1', '.sv.ns'],
  ])('%j is %s', (typed, name, label, suffix) => {
    expect(isName(typed)).toBe(true)
    expect(normalizeName(typed)).toBe(name)
    expect(parseName(typed)).toEqual({ name, label, suffix })
  })

  it.each([
    ['', /not empty/],
    ['  ', /not empty/],
    [`${LONGEST}a`, /1 to 46/],
    ['a.b.unverified.ns', /1 to 46/],
    ['.unverified.ns', /1 to 46/],
    [`alice::1220${'a'.repeat(64)}`, /is a party, not a name: `names\.reverse`/],
    ['alice.ns', /ends in \.unverified\.ns/],
    ['alice.unverified', /ends in \.unverified\.ns/],
    ['alice.eth', /ends in \.unverified\.ns/],
    ['_.sv.ns', /1 to 32/],
    ['x.dso.ns', /ends in/],
    ['ali ce', /U\+0020 is a space or invisible/],
    ['ali\u200bce', /U\+200B is a space or invisible/],
    ['alice!', /"!" \(U\+0021\) is not allowed/],
    ['ali\u0441e', /"\u0441" \(U\+0441, Cyrillic\) only looks like "c"/],
    ['\u0410lice', /"\u0410" \(U\+0410, Cyrillic\) only looks like "a"/],
    ['b\u03bfb', /"\u03bf" \(U\+03BF, Greek\) only looks like "o"/],
    ['al\u0131ce', /"\u0131" \(U\+0131, Latin\) only looks like "i"/],
    ['\uff41lice', /\(U\+FF41, Latin\) only looks like "a"/],
    ['alic\u00e9', /\(U\+00E9, Latin\) only looks like "e"/],
    // The Kelvin sign is a "k" in lower case: it must not become one unseen.
    ['\u212aevin', /\(U\+212A, Latin\) only looks like "k"/],
    ['a\u2013b', /\(U\+2013\) only looks like "-"/],
    ['alice\u3002unverified\u3002ns', /\(U\+3002\) only looks like "\."/],
  ])('%j cannot be a name, for a reason', (typed, why) => {
    expect(isName(typed)).toBe(false)
    expect(() => parseName(typed)).toThrow(
      expect.objectContaining({
        code: 'INVALID_NAME',
        definite: true,
        retryable: false,
        message: expect.stringMatching(why),
        details: { name: typed, rule: expect.stringMatching(why) },
      }),
    )
  })

  it('names each foreign character', () => {
    expect(() => parseName('\u0430\u0441\u0435')).toThrow(/"a", .*"c", .*"e"/)
  })

  it('must be a string', () => {
    const wrong = 7 as unknown as string
    expect(isName(wrong)).toBe(false)
    expect(() => parseName(wrong)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })
})

it('a prefix is parsed in the same way, without a suffix', () => {
  expect(parsePrefix(' Al')).toBe('al')
  expect(parsePrefix('')).toBe('')
  expect(parsePrefix('alice.unv')).toBe('alice.unv')
  expect(() => parsePrefix('\u0430l')).toThrow(expect.objectContaining({ code: 'INVALID_NAME' }))
  expect(() => parsePrefix('a'.repeat(61))).toThrow(/60/)
})

it('names of the network itself cannot be registered', () => {
  expect(parseRegistrableName('Alice')).toBe('alice.unverified.ns')
  for (const name of ['dso.ns', 'sv-1.sv.ns'])
    expect(() => parseRegistrableName(name)).toThrow(
      expect.objectContaining({ code: 'NAME_SUFFIX_MISSING' }),
    )
  expect(() => parseRegistrableName('a.b')).toThrow(
    expect.objectContaining({ code: 'INVALID_NAME' }),
  )
})
