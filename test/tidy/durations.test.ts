/** `npm test` has a bound, which the recorded seconds of its files keep. A run that takes longer reports it. */
import { expect, it } from 'vitest'
import { packedSeconds, RECORDS, readSeconds, slowerThanRecorded } from '../support/durations.ts'
import { hasTestsOf } from '../support/test-set.ts'
import { files, read } from '../support/tree.ts'

/** Of the files of each process of vitest (test/run.mjs), with its number of workers (vitest.config.ts). */
const SECONDS_MAX = 270
const LANES = [
  { name: 'tests of processes', ofProcesses: true, workerCount: 2 },
  { name: 'other tests', ofProcesses: false, workerCount: 3 },
]
const isOfProcesses = (file: string) =>
  /^test\/(consumer|conformance|browser|e2e|attacks|suites)\//.test(file)

const tests = files.filter(
  (file) => /\.test\.ts$/.test(file) && !file.startsWith('test/support/fixtures/'),
)
const REST = 'rest'
const recorded = { 'a.test.ts': 10, 'b.test.ts': 40, 'c.test.ts': 5 }

it.each(['main', 'rest'] as const)('each file of %s has its seconds', (set) => {
  const seconds = readSeconds(set)
  const ofSet = tests.filter((file) => hasTestsOf(set, read(file)))
  expect(ofSet.length).toBeGreaterThan(20)
  const why = `write their seconds into ${RECORDS[set]}, or run npm run test:durations`
  expect(
    ofSet.filter((file) => seconds[file] === undefined),
    why,
  ).toEqual([])
  expect(Object.keys(seconds).filter((file) => !ofSet.includes(file))).toEqual([])
})

it.each(LANES)(`the $name of npm test take at most ${SECONDS_MAX} s`, (lane) => {
  const seconds = readSeconds('main')
  const ofLane = Object.keys(seconds).filter((file) => isOfProcesses(file) === lane.ofProcesses)
  expect(ofLane.length).toBeGreaterThan(5)
  const taken = packedSeconds(
    ofLane.map((file) => seconds[file] ?? 0),
    lane.workerCount,
  )
  expect(taken, "give a test the tag 'rest', so that npm run test:rest runs it").toBeLessThan(
    SECONDS_MAX,
  )
})

it('files are packed, the longest first', () => {
  expect(packedSeconds([1, 5, 3, 2], 2)).toBe(6)
  expect(packedSeconds([9, 1], 3)).toBe(9)
})

it('a run has its files', () => {
  // Not as literals, which would be tags of this file.
  const ofFile = (tag: string) => `/** @${'module'}-tag ${tag} */`
  const rest = `it('a', { tags: ['${REST}'] }, () => {})`
  const sets = (text: string) =>
    (['main', 'rest', 'all', 'long'] as const).filter((set) => hasTestsOf(set, text))
  expect(sets("it('a', () => {})")).toEqual(['main', 'all', 'long'])
  expect(sets(rest)).toEqual(['main', 'rest', 'all', 'long'])
  expect(sets(ofFile('rest') + rest)).toEqual(['rest', 'all', 'long'])
  expect(sets(ofFile('long'))).toEqual(['long'])
})

it('a run that takes up to a fifth longer is none of note, whatever one file takes', () => {
  expect(slowerThanRecorded({ 'a.test.ts': 19, 'b.test.ts': 41 }, recorded)).toBeNull()
})

it('a slower run names the files that lost most, and counts no file without a record', () => {
  expect(slowerThanRecorded({ 'new.test.ts': 90, 'b.test.ts': 40 }, recorded)).toBeNull()
  expect(slowerThanRecorded({ 'a.test.ts': 20.4, 'b.test.ts': 45 }, recorded)).toBe(
    '31 % slower than recorded, most of all a.test.ts (10 s, now 20 s), b.test.ts (40 s, now 45 s)',
  )
})
