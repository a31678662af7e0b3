import { expect, it } from 'vitest'
import { messageOf } from './command-error.ts'

it('says in a line what an object holds that is no error', () => {
  const nested = { code: 7, why: { deep: { deeper: { deepest: 'no' } } }, list: [1, 2] }
  expect(messageOf(nested)).toBe('{ code: 7, why: { deep: { deeper: [Object] } }, list: [ 1, 2 ] }')
  expect(messageOf('one line\nand another')).toBe('one line')
})
