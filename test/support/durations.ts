/**
 * How long each file of tests took when `npm run test:durations` ran last, with its tests of `npm test` and with those of
 * `npm run test:rest`: the order of a run, its remaining time, and what it is compared with.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { isOfSet, testSet } from './test-set.ts'

const root = join(import.meta.dirname, '../..')
export const RECORDS = { main: 'test/durations.json', rest: 'test/durations-rest.json' } as const
/** A run is reported as slower above this share of the recorded seconds. */
const SLOWER_FROM = 1.2
/** Of a file without a record. */
const SECONDS_OF_OTHERS = 1
/** Also recorded of a file that takes less. */
const SECONDS_MIN = 0.1

export type Seconds = Readonly<Record<string, number>>

/** By the path of the file. */
export function readSeconds(set: keyof typeof RECORDS): Seconds {
  const file = join(root, RECORDS[set])
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}

/** Of the tests that this run has. */
const recorded = readRecorded()

function readRecorded(): Seconds {
  const set = testSet()
  if (set === 'main' || set === 'rest') return readSeconds(set)
  const [main, rest] = [readSeconds('main'), readSeconds('rest')]
  const files = Object.keys({ ...main, ...rest })
  return Object.fromEntries(files.map((file) => [file, (main[file] ?? 0) + (rest[file] ?? 0)]))
}

/** The seconds of a file, as recorded. */
export function secondsOf(moduleId: string): number {
  return recorded[relative(root, moduleId)] ?? SECONDS_OF_OTHERS
}

/** The longest files first, so that none runs alone at the end; without those that have no test of this run. */
export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const selected = specifications.filter(({ moduleId }) => isOfSet(moduleId))
    return (await super.sort(selected)).sort(
      (one, other) => secondsOf(other.moduleId) - secondsOf(one.moduleId),
    )
  }
}

/** How long files take that several workers run, the longest first. */
export function packedSeconds(seconds: readonly number[], workerCount: number): number {
  const workers = Array.from({ length: workerCount }, () => 0)
  for (const one of [...seconds].sort((a, b) => b - a)) {
    const least = workers.indexOf(Math.min(...workers))
    workers[least] = (workers[least] ?? 0) + one
  }
  return Math.max(...workers)
}

/** A sentence about files that took longer than recorded, or null. */
export function slowerThanRecorded(now: Seconds, before = recorded): string | null {
  const rows = Object.keys(now)
    .map((file) => ({ file, now: now[file] ?? 0, before: before[file] ?? 0 }))
    .filter((row) => row.before > 0)
  const sum = (key: 'now' | 'before') => rows.reduce((total, row) => total + row[key], 0)
  if (sum('now') <= sum('before') * SLOWER_FROM) return null
  const worst = rows.sort((a, b) => b.now - b.before - (a.now - a.before)).slice(0, 3)
  const names = worst.map((row) => `${row.file} (${row.before} s, now ${row.now.toFixed(0)} s)`)
  const percent = ((sum('now') / sum('before') - 1) * 100).toFixed(0)
  return `${percent} % slower than recorded, most of all ${names.join(', ')}`
}

/** Writes what this run took, and keeps what is recorded of other files that exist. */
export function record(now: Seconds): void {
  const set = testSet()
  if (set !== 'main' && set !== 'rest') return
  // Read again: another process of the same run may have written.
  const others = Object.entries(readSeconds(set)).filter(([file]) => existsSync(join(root, file)))
  const rows = Object.entries({ ...Object.fromEntries(others), ...now })
    .map(([file, seconds]) => [file, Math.max(SECONDS_MIN, Math.round(seconds * 10) / 10)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  writeFileSync(join(root, RECORDS[set]), `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`)
}
