import { expect, it } from 'vitest'
import { messageOf } from './command-error.ts'

it('describes a thrown object that is not an error in one line', () => {
  const nested = { code: 7, why: { deep: { deeper: { deepest: 'no' } } }, list: [1, 2] }
  expect(messageOf(nested)).toBe('{ code: 7, why: { deep: { deeper: [Object] } }, list: [ 1, 2 ] }')
  expect(messageOf('one line\nand another')).toBe('one line')
})
