import { expect, test } from 'vitest'
import { parseQuery } from './query-parser.ts'

test('a name that occurs twice gives a list, in the order of the query', () => {
  expect({ ...parseQuery('a=1&b=x&a=2&a=3') }).toEqual({ a: ['1', '2', '3'], b: 'x' })
})

test('as many pairs of one name as a header holds take no time worth mentioning', () => {
  const pairs = 8000
  const begunAt = performance.now()
  expect(parseQuery('a&'.repeat(pairs))['a']).toHaveLength(pairs)
  // A few milliseconds; a list that is copied for each pair takes tens of seconds.
  expect(performance.now() - begunAt).toBeLessThan(5_000)
})
