import { NOT_AFTER_MICROS_MAX } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { createOrderedHashes } from './ordered-hashes.ts'

it('remembers an entry for as long as its bytes could act again', () => {
  const hashes = createOrderedHashes()
  hashes.add('one', 1000)
  hashes.add('two', 1000 + NOT_AFTER_MICROS_MAX)
  expect(hashes.has('one')).toBe(true)
  hashes.add('three', 1001 + NOT_AFTER_MICROS_MAX)
  expect(['one', 'two', 'three'].map(hashes.has)).toEqual([false, true, true])
})

it('forgets the oldest of too many', () => {
  const hashes = createOrderedHashes(2)
  for (const [index, hash] of ['one', 'two', 'one', 'three'].entries()) hashes.add(hash, index)
  expect(['one', 'two', 'three'].map(hashes.has)).toEqual([false, true, true])
})
