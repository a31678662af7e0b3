import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { untilTrue } from '@quorumscan/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { follow, lastLines } from './log-files.ts'

let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'qs-logs-'))
  file = join(directory, 'sv-1.log')
  writeFileSync(file, 'one\ntwo\nthree\n')
})
afterEach(() => rmSync(directory, { recursive: true }))

const linesOf = (lines: number, bytes = 1000) => lastLines(file, { lines, bytes })

it('returns the last lines, and none of an empty log', () => {
  expect(linesOf(2)).toEqual({ lines: ['two', 'three'], end: 14 })
  expect(linesOf(0).lines).toEqual([])
  // Only whole lines.
  expect(linesOf(9, 7).lines).toEqual(['three'])
  writeFileSync(file, '')
  expect(linesOf(9)).toEqual({ lines: [], end: 0 })
})

it('follows new text, even in a truncated file, until it is disposed of', async () => {
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
