import { expect, it } from 'vitest'
import { fields } from './text.ts'

it('shows the members of an entry, a dash for null, and escapes control characters', () => {
  const entry = { name: 'alice.unverified.ns', contract_id: null, count: 3, url: 'a\u001b[2Jb' }
  expect(fields(entry)).toEqual([
    '  name        alice.unverified.ns',
    '  contract_id -',
    '  count       3',
    '  url         a\\u{1b}[2Jb',
  ])
})
