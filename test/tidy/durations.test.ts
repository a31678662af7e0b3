/** A run that takes longer than test/durations.json records reports it at its end. */
import { expect, it } from 'vitest'
import { mixed, slowerThanRecorded } from '../support/durations.ts'

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

it('a run has two clusters at a time, and other files meanwhile, the longest first', () => {
  const named = (project: string, ...seconds: number[]) =>
    seconds.map((one) => ({ project, seconds: one }))
  const files = [
    ...named('unit', 1, 5),
    ...named('e2e', 20, 40, 30),
    ...named('integration', 10, 15, 0),
    ...named('attacks', 35),
  ]
  const order = mixed(files, 4).map(({ project, seconds }) => `${project} ${seconds}`)
  expect(order).toEqual([
    ...['e2e 40', 'attacks 35', 'integration 15', 'integration 10', 'integration 0', 'unit 5'],
    ...['unit 1', 'e2e 30', 'e2e 20'],
  ])
})

it('a run of clusters alone uses all workers', () => {
  const files = [30, 20, 10].map((seconds) => ({ project: 'e2e', seconds }))
  expect(mixed(files, 4)).toEqual(files)
})
