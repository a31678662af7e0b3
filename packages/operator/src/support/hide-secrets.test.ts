import { describe, expect, it } from 'vitest'
import { createHiding, HIDDEN, showValue } from './hide-secrets.ts'

const seed = '0123456789abcdef'.repeat(4)
const hide = (text: string, ...secrets: string[]) => createHiding(secrets).hide(text)

describe('a secret of this machine is hidden', () => {
  it.each([
    ['as it is', seed],
    ['in capitals', seed.toUpperCase()],
    ['as base64', Buffer.from(seed, 'hex').toString('base64').slice(0, 42)],
    [
      'as base64 with its public key',
      Buffer.from(seed + 'ff'.repeat(32), 'hex').toString('base64'),
    ],
    ['as base64url', Buffer.from(seed, 'hex').toString('base64url').slice(0, 42)],
  ])('%s', (_, form) => {
    const hidden = hide(`a ${form} b`, `${seed}\n`)
    expect(hidden).toContain(HIDDEN)
    expect(hidden).not.toContain(form)
  })

  it('by each line and word of its file, and where it stands in JSON or a URL', () => {
    const file = 'https://sv-1.example token-of-sv-1\n# a note\ntoken"of&sv-2\n'
    const text = `token-of-sv-1 ${JSON.stringify('token"of&sv-2')} ?t=${encodeURIComponent('token"of&sv-2')} https://sv-1.example`
    expect(hide(text, file)).toBe(`${HIDDEN} "${HIDDEN}" ?t=${HIDDEN} https://sv-1.example`)
  })
})

describe('a secret of others is hidden by its form', () => {
  it.each([
    ['-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----', 'MHcC'],
    ['AGE-SECRET-KEY-1QQQSYQCYQ5RQWZ', 'QQQSY'],
    ['authorization: Bearer abcdefghijkl', 'abcdefghijkl'],
    ['"x-peer-token":"abcdefghijkl"', 'abcdefghijkl'],
    ['a eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl b', 'eyJ'],
    ['redis://user:pass@10.0.0.5:6379', 'pass'],
    ['password=correct-horse', 'correct'],
  ])('%s', (text, secret) => {
    const hiding = createHiding([])
    expect(hiding.hide(text)).not.toContain(secret)
    expect(hiding.placeCount()).toBe(1)
  })
})

it('what is public stays', () => {
  const text = `hash ${seed} the token of this operator https://sv-1.example:4611/v0?a=b sv-1::1220${seed} age1${'q'.repeat(58)}`
  expect(hide(text, 'another secret\n', '')).toBe(text)
})

it.each([
  ['/etc/quorumscan/tls/key.pem', '/etc/quorumscan/tls/key.pem'],
  ['sv-1=https://sv-1.example:4611,sv-2=https://198.51.100.2', null],
  [`age1${'q2'.repeat(29)}`, null],
  [`treasury::1220${seed}`, null],
  ['0.0.0.0:26656', null],
  ['a1b2c3d4e5f6a7b8c9d0e1f2', HIDDEN],
  ['/etc/a1b2c3d4e5f6a7b8c9d0e1f2', `/etc/${HIDDEN}`],
])('shows the value %s', (value, shown) => {
  expect(showValue(value)).toBe(shown ?? value)
})
