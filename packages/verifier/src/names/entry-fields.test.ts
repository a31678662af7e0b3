import { describe, expect, it } from 'vitest'
import { findEntryFieldViolation } from './entry-fields.ts'

const valid = { name: 'alice.unverified.ns', url: '', description: '' }

describe('the fields of an entry (D-17)', () => {
  it.each([
    valid,
    { ...valid, name: `${'a'.repeat(46)}.unverified.ns` },
    { ...valid, name: '-_9.unverified.ns' },
    { ...valid, url: 'https://example.org/~a?b#c' },
    { ...valid, url: `http://${'x'.repeat(248)}` },
    { ...valid, description: 'é'.repeat(140) },
    { ...valid, description: 'good \u{1f600}' },
  ])('accepts %j', (fields) => expect(findEntryFieldViolation(fields)).toBeUndefined())

  it.each([
    [{ ...valid, name: 'alice' }, 'NAME_SUFFIX_MISSING'],
    [{ ...valid, name: 'dso.ns' }, 'NAME_SUFFIX_MISSING'],
    [{ ...valid, name: 'sv-1.sv.ns' }, 'NAME_SUFFIX_MISSING'],
    [{ ...valid, name: '.unverified.ns' }, 'INVALID_NAME'],
    [{ ...valid, name: 'Alice.unverified.ns' }, 'INVALID_NAME'],
    [{ ...valid, name: 'a.b.unverified.ns' }, 'INVALID_NAME'],
    [{ ...valid, name: 'ünicode.unverified.ns' }, 'INVALID_NAME'],
    [{ ...valid, name: 'a\n.unverified.ns' }, 'INVALID_NAME'],
    [{ ...valid, name: `${'a'.repeat(47)}.unverified.ns` }, 'INVALID_NAME'],
    [{ ...valid, url: 'ftp://example.org' }, 'INVALID_URL'],
    [{ ...valid, url: 'https://' }, 'INVALID_URL'],
    [{ ...valid, url: 'https://a b' }, 'INVALID_URL'],
    [{ ...valid, url: 'javascript:alert(1)//http://' }, 'INVALID_URL'],
    [{ ...valid, url: `http://${'x'.repeat(249)}` }, 'INVALID_URL'],
    [{ ...valid, description: 'x'.repeat(141) }, 'INVALID_DESCRIPTION'],
    [{ ...valid, description: '\u{1f600}'.repeat(71) }, 'INVALID_DESCRIPTION'],
    [{ ...valid, description: 'lone \ud800' }, 'INVALID_DESCRIPTION'],
    [{ ...valid, description: '\udc00 lone' }, 'INVALID_DESCRIPTION'],
    [{ ...valid, description: 'tab\t' }, 'INVALID_DESCRIPTION'],
    [{ ...valid, description: 'bidi \u202e' }, 'INVALID_DESCRIPTION'],
    [{ ...valid, description: 'c1 \u0085' }, 'INVALID_DESCRIPTION'],
  ])('refuses %j with %s', (fields, code) =>
    expect(findEntryFieldViolation(fields)?.code).toBe(code),
  )
})
