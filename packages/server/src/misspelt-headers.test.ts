import { expect, it } from 'vitest'
import { createMisspeltHeaders } from './misspelt-headers.ts'

const NAMES = ['x-quorum', 'x-min-offset', 'x-max-age-ms', 'accept']

const headersOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '1']))

it('names a header that is nearly one of ours, and no other', () => {
  const problemOf = createMisspeltHeaders(NAMES)
  expect(problemOf(headersOf(['x-quorom']))).toEqual({
    path: 'headers.x-quorom',
    rule: 'is unknown: did you mean x-quorum?',
  })
  expect(problemOf(headersOf(['x-min']))).toMatchObject({ path: 'headers.x-min' })
  expect(problemOf(headersOf([...NAMES, 'acept', 'x-forwarded-for', 'x-ready']))).toBeNull()
  expect(createMisspeltHeaders(['accept'])(headersOf(['x-accept']))).toBeNull()
})

it('compares at most 64 headers of a request, and refuses more', () => {
  const compared: string[] = []
  const nearest = (name: string) => void compared.push(name)
  const problemOf = createMisspeltHeaders(NAMES, { nearest })
  const unknown = (count: number) =>
    headersOf(Array.from({ length: count }, (_, index) => `x-unknown-${index}`))
  expect(problemOf({ ...headersOf(NAMES), ...unknown(64) })).toBeNull()
  expect(compared).toHaveLength(64)
  compared.length = 0
  expect(problemOf(unknown(2000))).toEqual({
    path: 'headers',
    rule: 'must not have more than 64 unknown ones of x-',
  })
  expect(compared).toHaveLength(64)
})
