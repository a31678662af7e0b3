/** How long each file of tests took when `npm run test:durations` ran last: the order of a run, and what it is compared with. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = join(import.meta.dirname, '../..')
const FILE = join(root, 'test/durations.json')
/** A run is reported as slower above this share of the recorded seconds. */
const SLOWER_FROM = 1.2

type Seconds = Readonly<Record<string, number>>

/** By the path of the file, of those that take a second or more. */
const recorded: Seconds = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {}

/** The longest files first, so that none runs alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const secondsOf = ({ moduleId }: TestSpecification) => recorded[relative(root, moduleId)] ?? 0
    return (await super.sort(specifications)).sort(
      (one, other) => secondsOf(other) - secondsOf(one),
    )
  }
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
  return `${percent} % slower than test/durations.json, most of all ${names.join(', ')}`
}

/** Writes what this run took, and keeps what is recorded of other files that exist. */
export function record(now: Seconds): void {
  const others = Object.entries(recorded).filter(([file]) => existsSync(join(root, file)))
  const rows = Object.entries({ ...Object.fromEntries(others), ...now })
    .map(([file, seconds]) => [file, Math.round(seconds)] as const)
    .filter(([, seconds]) => seconds > 0)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`)
}
