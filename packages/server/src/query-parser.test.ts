import { expect, it } from 'vitest'
import { parseQuery } from './query-parser.ts'

it('a name that occurs twice gives a list, in the order of the query', () => {
  expect({ ...parseQuery('a=1&b=x&a=2&a=3') }).toEqual({ a: ['1', '2', '3'], b: 'x' })
})

it('as many pairs of one name as a header can hold are parsed quickly', () => {
  const pairs = 8000
  // A list that is copied for each pair is walked each time, and takes half a minute in all.
  let walkCount = 0
  const walk = Array.prototype[Symbol.iterator]
  const counting = function (this: unknown[]) {
    walkCount += 1
    return walk.call(this)
  }
  Object.defineProperty(Array.prototype, Symbol.iterator, {
    value: counting,
    configurable: true,
    writable: true,
  })
  const query = parseQuery('a&'.repeat(pairs))
  Object.defineProperty(Array.prototype, Symbol.iterator, {
    value: walk,
    configurable: true,
    writable: true,
  })
  expect(query['a']).toHaveLength(pairs)
  expect(walkCount).toBe(1)
})
