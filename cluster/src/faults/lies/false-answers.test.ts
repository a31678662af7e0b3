import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { expect, it } from 'vitest'
import { lieAboutDocument, lieAboutEntry } from './false-answers.ts'

const digits = 'ab'.repeat(32)
const alice: CertifiedEntry = {
  contract_id: `00${digits}`,
  user: `alice::1220${digits}`,
  name: 'alice.unverified.ns',
  url: '',
  description: '',
  expires_at: '2030-01-01T00:00:00.000000Z',
}
const other = { ...alice, name: 'other.unverified.ns' }
const context = { liar: `mallory::1220${digits}`, other }
const byName = { name: alice.name }

it.each([
  ['value', { ...alice, user: context.liar }, null],
  ['equivocate', { ...alice, user: context.liar }, null],
  ['invent', alice, expect.objectContaining({ name: alice.name, user: context.liar })],
  ['deny', null, null],
  ['other-name', other, other],
  ['signature', alice, alice && null],
] as const)(
  'answers of the lie %s for an existing and an unknown name',
  (kind, existing, absent) => {
    expect(lieAboutEntry(kind, { lookup: byName, entry: alice }, context)).toEqual(existing)
    expect(lieAboutEntry(kind, { lookup: byName, entry: null }, context)).toEqual(absent)
  },
)

it('invents a name for a party without one, and replaces the name of a party that has one', () => {
  const lookup = { party: alice.user }
  expect(lieAboutEntry('invent', { lookup, entry: null }, context)?.user).toBe(alice.user)
  expect(lieAboutEntry('value', { lookup, entry: alice }, context)?.name).not.toBe(alice.name)
})

it('lies about pages in a valid form, too', () => {
  const page = { entries: [alice, other], next_page_token: null }
  expect(lieAboutDocument('deny', page, context)).toEqual({ ...page, entries: [other] })
  expect(lieAboutDocument('invent', page, context)).toMatchObject({ next_page_token: null })
  expect(lieAboutDocument('value', page, context)).toEqual({
    ...page,
    entries: [alice, other].map((entry) => ({ ...entry, user: context.liar })),
  })
  expect(lieAboutDocument('garbage', page, context)).toEqual(page)
})
