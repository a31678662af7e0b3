import { utf8 } from '@quorumscan/base'
import { expect, test } from 'vitest'
import { parseJson } from './body-parser.ts'

const nested = (depth: number, inner = '') => '['.repeat(depth) + inner + ']'.repeat(depth)

test.each([
  ['nothing but levels', nested(64)],
  ['brackets in a string', nested(63, `["${'['.repeat(99)}"]`)],
  ['brackets after an escaped quote', nested(63, `["\\"${'{'.repeat(99)}"]`)],
  ['a string that ends with a backslash', nested(63, '["\\\\"]')],
  ['many that are open one after the other', `[${'{},'.repeat(500)}[]]`],
])('64 levels are read: %s', (_, text) => {
  expect(parseJson(utf8(text))).toEqual(JSON.parse(text))
})

test.each([
  ['brackets', nested(65)],
  ['braces', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
  ['behind a string with an escaped quote', nested(64, '["\\""],[]')],
  ['behind a string that ends with a backslash', nested(64, '["\\\\"],[]')],
])('65 levels are refused: %s', (_, text) => {
  expect(() => JSON.parse(text)).not.toThrow()
  expect(() => parseJson(utf8(text))).toThrow('at most 64 levels deep')
})
