import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { expect, it } from 'vitest'
import { nullable } from '../members.ts'
import {
  Base64,
  bool,
  defaulted,
  Empty,
  Identifier,
  Int64,
  int64,
  list,
  namedOneOf,
  Timestamp,
  text,
  wrapped,
} from './relaxed.ts'

const schema = Type.Object({
  needed: Int64,
  name: text('A name.'),
  flag: bool('A flag.'),
  count: int64('A count.'),
  items: list(Type.String(), 'Items.'),
  kind: defaulted(namedOneOf('Kind', 'Its kind.', { Empty, Id: wrapped(Identifier) }), {
    Empty: {},
  }),
  at: Type.Optional(nullable(Timestamp)),
})

it('members with a default are optional', () => {
  expect(schema.required).toEqual(['needed'])
  const { name, flag, count, items, kind } = schema.properties
  expect([name, flag, count, items, kind].map((member) => Reflect.get(member, 'default'))).toEqual([
    '',
    false,
    0,
    [],
    { Empty: {} },
  ])
})

it('answers are checked against the same schemas', () => {
  const compiled = Compile(schema)
  expect(compiled.Check({ needed: 1, kind: { Id: { value: 'a:b:c' } }, at: null })).toBe(true)
  expect(compiled.Check({ needed: 1, kind: { Id: { value: 'a:b' } } })).toBe(false)
})

it.each([
  ['', true],
  ['AA==', true],
  ['AAA=', true],
  ['AAAA', true],
  ['AA', false],
  ['A===', false],
  ['AA-_', false],
])('%j is Base64: %j', (given, want) => {
  expect(Compile(Base64).Check(given)).toBe(want)
})
