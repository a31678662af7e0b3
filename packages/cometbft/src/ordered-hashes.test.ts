import { NOT_AFTER_MICROS_MAX } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { createOrderedHashes } from './ordered-hashes.ts'

it('remembers an entry until it could no longer be accepted again', () => {
  const hashes = createOrderedHashes()
  hashes.add('one', 1000)
  hashes.add('two', 1000 + NOT_AFTER_MICROS_MAX)
  expect(hashes.has('one')).toBe(true)
  hashes.add('three', 1001 + NOT_AFTER_MICROS_MAX)
  expect(['one', 'two', 'three'].map(hashes.has)).toEqual([false, true, true])
})

it('drops the oldest hashes beyond the limit', () => {
  const hashes = createOrderedHashes(2)
  for (const [index, hash] of ['one', 'two', 'one', 'three'].entries()) hashes.add(hash, index)
  expect(['one', 'two', 'three'].map(hashes.has)).toEqual([false, true, true])
})
