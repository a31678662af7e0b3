/** A run that takes longer than test/durations.json records reports it at its end. */
import { expect, it } from 'vitest'
import { slowerThanRecorded } from '../support/durations.ts'

const recorded = { 'a.test.ts': 10, 'b.test.ts': 40, 'c.test.ts': 5 }

it('a run that takes up to a fifth longer is none of note, whatever one file takes', () => {
  expect(slowerThanRecorded({ 'a.test.ts': 19, 'b.test.ts': 41 }, recorded)).toBeNull()
})

it('a slower run names the files that lost most, and counts no file without a record', () => {
  expect(slowerThanRecorded({ 'new.test.ts': 90, 'b.test.ts': 40 }, recorded)).toBeNull()
  expect(slowerThanRecorded({ 'a.test.ts': 20.4, 'b.test.ts': 45 }, recorded)).toBe(
    '31 % slower than test/durations.json, most of all a.test.ts (10 s, now 20 s), b.test.ts (40 s, now 45 s)',
  )
})
