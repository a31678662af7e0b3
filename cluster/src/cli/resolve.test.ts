import { expect, it } from 'vitest'
import { exitOfLookup } from './resolve.ts'

it.each([
  ['verified', 1, 0],
  ['trusted-absent', 1, 0],
  ['disputed', 3, 1],
  ['lagging', 4, 3],
  ['insufficient', 1, 3],
  ['insufficient', 0, 4],
])('a lookup that ends %s, with %i nodes heard, ends with %i', (kind, heard, code) => {
  expect(exitOfLookup(kind, heard)).toBe(code)
})
