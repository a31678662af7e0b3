import { expect, it } from 'vitest'
import { isCertifiable, isSnapshotOffset } from './signed-offsets.ts'

const SECOND = 1_000_000

it.each([
  { what: 'the genesis', offset: 0, at: SECOND, before: SECOND - 1, is: true },
  {
    what: 'a checkpoint',
    offset: 5,
    at: SECOND + 2,
    before: SECOND + 1,
    isCheckpoint: true,
    is: true,
  },
  { what: 'any other entry', offset: 5, at: SECOND + 2, before: SECOND + 1, is: false },
  { what: 'every 1 024th offset', offset: 2048, at: SECOND + 2, before: SECOND + 1, is: true },
  { what: 'the one before it', offset: 2047, at: SECOND + 2, before: SECOND + 1, is: false },
  {
    what: 'the first entry of a fifth of a second',
    offset: 5,
    at: SECOND,
    before: SECOND - 1,
    is: true,
  },
  { what: 'the last one of it', offset: 5, at: SECOND + 199_999, before: SECOND, is: false },
  {
    what: 'the first one of the next',
    offset: 5,
    at: SECOND + 200_000,
    before: SECOND + 199_999,
    is: true,
  },
  {
    what: 'one as late in another fifth',
    offset: 5,
    at: SECOND + 400_000,
    before: SECOND,
    is: true,
  },
])('$what: $is', ({ offset, at, before, isCheckpoint = false, is }) => {
  expect(isCertifiable({ offset, recordTime: at, isCheckpoint }, before)).toBe(is)
})

const HOUR = 3_600 * SECOND

it.each([
  { offset: 16_384, at: HOUR + 2, before: HOUR + 1, is: true },
  { offset: 3 * 16_384, at: HOUR + 2, before: HOUR + 1, is: true },
  { offset: 8_192, at: HOUR + 2, before: HOUR + 1, is: true },
  { offset: 1_024, at: HOUR + 2, before: HOUR + 1, is: true },
  { offset: 512, at: HOUR + 2, before: HOUR + 1, is: false },
  { offset: 3_072, at: HOUR + 2, before: HOUR + 1, is: false },
  { offset: 32_768 + 1_024, at: HOUR + 2, before: HOUR + 1, is: false },
  { offset: 5, at: 2 * HOUR, before: 2 * HOUR - 1, is: true },
  { offset: 5, at: 2 * HOUR - 1, before: HOUR, is: false },
])('a snapshot at offset $offset, $before to $at: $is', ({ offset, at, before, is }) => {
  expect(isSnapshotOffset({ offset, recordTime: at }, before)).toBe(is)
  if (is) expect(isCertifiable({ offset, recordTime: at, isCheckpoint: false }, before)).toBe(true)
})
