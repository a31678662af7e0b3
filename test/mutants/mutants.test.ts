import { expect, it } from 'vitest'
import { mutated } from './mutant.ts'
import { sitesOf } from './sites.ts'

const mutants = (code: string) => sitesOf(code).map((site) => mutated(code, site))

it.each<readonly [string, readonly string[]]>([
  ['a < b', ['a <= b']],
  ['a === b', ['a !== b']],
  ['a + b', ['a - b']],
  ["a + 'text'", []],
  ['a && b', ['a || b']],
  ['x = a ?? b', ['x = a']],
  ['x = !a', ['x = a']],
  ['x = 5', ['x = (5 + 1)']],
  ['x = true', ['x = false']],
  ['if (a) b = c', ['if (true) b = c', 'if (false) b = c']],
  ['call(a)', [';']],
  ['await call(a)', [';']],
  ["import { a } from './a.ts'", []],
  ["export * from './a.ts'", []],
  ['type A = 5 | true', []],
  ['const x: 5 = y as 5', []],
  ['x = y! < z', ['x = y! <= z']],
])('the mutants of %s', (code, expected) => {
  expect(mutants(code)).toEqual(expected)
})

it('the line of a mutant is that of its place', () => {
  expect(sitesOf('a()\n\nif (b)\n  c = d')).toMatchObject([{ line: 1 }, { line: 3 }, { line: 3 }])
})
