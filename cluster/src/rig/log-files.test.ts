import { appendFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { follow, lastLines } from './log-files.ts'

const it = base
  .extend('file', ({ directory }) => {
    const file = join(directory, 'sv-1.log')
    writeFileSync(file, 'one\ntwo\nthree\n')
    return file
  })
  .extend(
    'linesOf',
    ({ file }) =>
      (lines: number, bytes = 1000) =>
        lastLines(file, { lines, bytes }),
  )

it('returns the last lines, and none of an empty log', ({ linesOf, file }) => {
  expect(linesOf(2)).toEqual({ lines: ['two', 'three'], end: 14 })
  expect(linesOf(0).lines).toEqual([])
  // Only whole lines.
  expect(linesOf(9, 7).lines).toEqual(['three'])
  writeFileSync(file, '')
  expect(linesOf(9)).toEqual({ lines: [], end: 0 })
})

it('follows new text, even in a truncated file, until it is disposed of', async ({ file }) => {
  const pieces: string[] = []
  const onPiece = (piece: string) => pieces.push(piece)
  const following = follow(file, { from: 14, clock: createSystemClock(), onPiece })
  // Half of a character first.
  const [first, second] = [Buffer.from('vié').subarray(0, 3), Buffer.from('é').subarray(1)]
  appendFileSync(file, first)
  await untilTrue('the piece', () => pieces.length === 1)
  appendFileSync(file, second)
  await untilTrue('the piece', () => pieces.length === 2)
  truncateSync(file)
  appendFileSync(file, 'new\n')
  await untilTrue('the piece', () => pieces.length === 3)
  await following[Symbol.asyncDispose]()
  appendFileSync(file, 'unread')
  expect(pieces).toEqual(['vi', 'é', 'new\n'])
})
