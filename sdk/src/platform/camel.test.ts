import { expect, it } from 'vitest'
import type { components as generated } from '../generated/answers.ts'
import type { components as wire } from '../generated/validator.ts'
import { type Camel, renameMembers, toCamel } from './camel.ts'

type Title = keyof generated['schemas']
type Renamed = { readonly [Name in Title]: Camel<wire['schemas'][Name]> }

it('renames members at every depth, but those of payloads', () => {
  const value = { a_b: [{ c_d1: null }], payload: { e_f: 1 } }
  expect(toCamel(value)).toEqual({ aB: [{ cD1: null }], payload: { e_f: 1 } })
})

it('a text in the place of a party is null, and may be in details and payloads', () => {
  const party = `alice::1220${'a'.repeat(64)}`
  expect(toCamel({ a: [{ party, x_y: 1 }] })).toEqual({ a: [{ party, xY: 1 }] })
  expect(toCamel({ a: [{ party: 'alice' }, { party }] })).toEqual({
    a: [{ party: null }, { party }],
  })
  const payload = { party: 'alice' }
  expect(toCamel({ payload })).toEqual({ payload })
  expect(renameMembers({ a_b: payload })).toEqual({ aB: payload })
})

it('the generated types, which have the documentation of each member, are those that it returns', () => {
  const asRenamed = (value: generated['schemas']): Renamed => value
  const asGenerated = (value: Renamed): generated['schemas'] => value
  expect([asRenamed, asGenerated]).toHaveLength(2)
})
