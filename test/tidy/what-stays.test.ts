/** Each Redis key that a package names has a row in the table "What stays" of docs/architecture.md. */
import { expect, it } from 'vitest'
import { productSources, read } from '../support/tree.ts'
import { placesThatStay } from '../support/what-stays.ts'

/** `'{users}:records'`, and the fixed part of a template literal, which ends where its first value begins. */
const KEY = /['`](\{(?:replica|users)\}:[a-z:-]+)/g

const keys = [
  ...new Set(
    productSources.flatMap((file) => [...read(file).matchAll(KEY)].map(([, key = '']) => key)),
  ),
].sort()

it('every key of the replica and of the users has a row', () => {
  expect(keys.length).toBeGreaterThan(30)
  const places = [...placesThatStay().values()]
  expect(keys.filter((key) => !places.some((place) => place.test(key)))).toEqual([])
})

it('every row names its owner, its size, its bound, and when it goes', () => {
  const rows = /^## What stays\n([\s\S]*?)^## /m
    .exec(read('docs/architecture.md'))?.[1]
    ?.split('\n')
    .filter((line) => line.startsWith('| '))
  expect(rows?.map((row) => row.split(' | ').length)).toEqual(rows?.map(() => 7))
  expect(rows?.flatMap((row) => row.split(' | ').filter((cell) => cell.trim() === ''))).toEqual([])
})
