/** How long each file of tests took when `npm run test:durations` ran last: the order of a run, and what it is compared with. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = join(import.meta.dirname, '../..')
const FILE = join(root, 'test/durations.json')
/** A run is reported as slower above this share of the recorded seconds. */
const SLOWER_FROM = 1.2
/** Of a file that is not recorded. */
const SECONDS_MIN = 0.5

type Seconds = Readonly<Record<string, number>>

/** By the path of the file, of those that take a second or more. */
const recorded: Seconds = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {}

/** Two processors run two clusters well. With more, all processes poll and wait for each other most of the time. */
const CLUSTERS_MAX = 2
/** Projects whose files start a cluster of processes, or the compilers of others. */
const WITH_CLUSTERS = ['attacks', 'browser', 'conformance', 'consumer', 'e2e', 'site']

type TestFile = { readonly project: string; readonly seconds: number }

/**
 * An order in which workers, of which each takes the next file when it is free, run at most `CLUSTERS_MAX` files with
 * clusters at a time, and other files meanwhile. Of both, the longest come first, so that none runs alone at the end. Other
 * files of a project stay together, because a worker that does not isolate them ends where a file of another project follows.
 */
export function mixed<File extends TestFile>(files: readonly File[], workers: number): File[] {
  const longestOf = new Map<string, number>()
  for (const { project, seconds } of files)
    longestOf.set(project, Math.max(longestOf.get(project) ?? 0, seconds))
  const byLength = files.toSorted((one, other) => other.seconds - one.seconds)
  const hasCluster = ({ project }: File) => WITH_CLUSTERS.includes(project)
  const clusters = byLength.filter(hasCluster)
  const others = [...longestOf]
    .sort(([, one], [, other]) => other - one)
    .flatMap(([name]) => byLength.filter((file) => file.project === name && !hasCluster(file)))
  const order: File[] = []
  let running: { readonly file: File; readonly endsAt: number }[] = []
  let now = 0
  while (order.length < files.length) {
    if (running.length === workers) now = Math.min(...running.map(({ endsAt }) => endsAt))
    running = running.filter(({ endsAt }) => endsAt > now)
    const isFull = running.filter(({ file }) => hasCluster(file)).length >= CLUSTERS_MAX
    const lanes = isFull ? [others, clusters] : [clusters, others]
    const file = lanes.find((lane) => lane.length > 0)?.shift() as File
    order.push(file)
    running.push({ file, endsAt: now + Math.max(file.seconds, SECONDS_MIN) })
  }
  return order
}

/** Orders a run by what its files took when they were recorded. */
export class Mixed extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const files = (await super.sort(specifications)).map((specification) => ({
      specification,
      project: specification.project.name,
      seconds: recorded[relative(root, specification.moduleId)] ?? 0,
    }))
    return mixed(files, this.ctx.config.maxWorkers).map(({ specification }) => specification)
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
