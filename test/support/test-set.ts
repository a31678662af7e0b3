/**
 * The set of tests that a run has: `TEST_SET`, which test/run.mjs sets. A test is in `npm test` unless it has the tag
 * `rest`, which `npm run test:rest` runs, or `long`, which `npm run test:long` runs. A file with one of these tags in
 * its first comment (`@module-tag rest`) is not even loaded by another run.
 */
import { readFileSync } from 'node:fs'

/** `main`: those of `npm test`. `all`: `main` and `rest`, also of an editor and of plain vitest. */
export type TestSet = 'main' | 'rest' | 'all' | 'long'

const FILTERS: Readonly<Record<TestSet, string[]>> = {
  main: ['!long', '!rest'],
  rest: ['!long', 'rest'],
  all: ['!long'],
  long: [],
}

/** @throws {RangeError} If `TEST_SET` names no set. */
export function testSet(env = process.env): TestSet {
  const name = env['TEST_LONG'] === '1' ? 'long' : env['TEST_SET'] || 'all'
  if (name in FILTERS) return name as TestSet
  throw new RangeError(`TEST_SET is ${JSON.stringify(name)}: set main, rest or all`)
}

/** The filter of tags that selects the tests of a set. */
export function tagsFilterOf(set: TestSet): string[] {
  return FILTERS[set]
}

/** Whether a file with this text can have tests of the set. */
export function hasTestsOf(set: TestSet, text: string): boolean {
  if (set === 'long') return true
  const tags = [...text.matchAll(/@module-tag (\S+)/g)].map(([, tag]) => tag)
  if (tags.includes('long')) return false
  if (set === 'main') return !tags.includes('rest')
  return set === 'all' || tags.includes('rest') || /\btags: \[[^\]]*'rest'/.test(text)
}

/** As `hasTestsOf`, of the file with this path. */
export function isOfSet(file: string, set = testSet()): boolean {
  return hasTestsOf(set, readFileSync(file, 'utf8'))
}
