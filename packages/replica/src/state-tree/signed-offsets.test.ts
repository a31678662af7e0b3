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
  { what: 'another offset', offset: 2047, at: SECOND + 2, before: SECOND + 1, is: false },
  {
    what: 'the first entry of a fifth of a second',
    offset: 5,
    at: SECOND,
    before: SECOND - 1,
    is: true,
  },
  { what: 'a later entry of a fifth', offset: 5, at: SECOND + 199_999, before: SECOND, is: false },
  {
    what: 'the first entry of the next fifth of a second',
    offset: 5,
    at: SECOND + 200_000,
    before: SECOND + 199_999,
    is: true,
  },
  {
    what: 'the first entry after an empty fifth of a second',
    offset: 5,
    at: SECOND + 400_000,
    before: SECOND,
    is: true,
  },
])('$what is certifiable: $is', ({ offset, at, before, isCheckpoint = false, is }) => {
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
])('a snapshot is due at $offset, from $before to $at: $is', ({ offset, at, before, is }) => {
  expect(isSnapshotOffset({ offset, recordTime: at }, before)).toBe(is)
  if (is) expect(isCertifiable({ offset, recordTime: at, isCheckpoint: false }, before)).toBe(true)
})
