/**
 * Long tests: more steps of random tests, and scenarios for which `npm test` has no time, most in parts of five minutes.
 * A pass is recorded in test/long.json, which is committed. `TEST_SLOWNESS` multiplies these minutes.
 *
 *   npm run test:long               all parts, one after the other
 *   npm run test:long -- PART …     only these
 *   npm run test:long -- --list     lists them, and how old their last passes are
 *   npm run test:long -- --ci       runs those that are due, and the one that the commit picks, as far as there is time
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createSystemClock, surviveLostOutput } from '@quorumscan/base'
import { createDirectory, slowness } from '@quorumscan/testkit'
import { formatInstant } from '@quorumscan/verifier'
import { fetchRedis } from '../support/debian-archive.ts'
import { type LongPart, PARTS } from '../support/long-parts.ts'
import {
  createHistory,
  type Pass,
  type Passes,
  type Plan,
  pickPart,
  planParts,
} from '../support/long-passes.ts'
import { ROOT } from '../support/root.ts'

const PART_MINUTES_MAX = 5
const RECORD = 'test/long.json'
const history = createHistory(ROOT)

/** A report of vitest's reporter `json`, as far as it is read. */
type Report = {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly title: string
      readonly meta: { readonly figures?: unknown }
    }[]
  }[]
}

/** Returns the exit code. */
export async function main(words: readonly string[]): Promise<number> {
  surviveLostOutput()
  const { values, positionals } = parseArgs({
    args: [...words],
    options: { list: { type: 'boolean' }, ci: { type: 'boolean' } },
    allowPositionals: true,
  })
  const unknown = positionals.find((name) => !PARTS.some((part) => part.name === name))
  if (unknown !== undefined) {
    print(`There is no part named ${unknown}; npm run test:long -- --list lists them.`)
    return 1
  }
  if (values.list) return list()
  const named = PARTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  const plan = values.ci ? planOfCi() : { parts: named, overdue: [] }
  const failures = [...plan.overdue]
  for (const part of plan.parts) {
    const failure = await run(part, { isRecorded: values.ci !== true })
    if (failure !== null) failures.push(`part ${part.name}: ${failure}`)
  }
  for (const failure of failures) print(`\nFAILED  ${failure}`)
  return failures.length === 0 ? 0 : 1
}

function list(): number {
  const passes = readPasses()
  for (const { name, shows } of PARTS) {
    const pass = passes[name]
    const age = history.ageOf(pass)
    const last = age === 'no pass' ? age : `${age} commits ago, ${pass?.seconds} s`
    print(`${name.padEnd(20)} ${last.padEnd(25)} ${shows}`)
  }
  return 0
}

function planOfCi(): Plan {
  const passes = readPasses()
  const parts = PARTS.filter(({ isOfRelease = false }) => !isOfRelease)
  const ageOf = ({ name }: LongPart) => history.ageOf(passes[name])
  if (parts.some((part) => ageOf(part) === 'unknown'))
    print('This clone is shallow: ages of passes that need more history are not checked.')
  const plan = planParts(parts, {
    ageOf,
    listedFor: history.listedFor,
    isChanged: ({ name, changes = [] }) => history.isAnyChanged(changes, passes[name]),
    // Of a part that never passed: its limit.
    secondsOf: ({ name, minutes = PART_MINUTES_MAX }) => passes[name]?.seconds ?? 60 * minutes,
    picked: pickPart(
      parts.filter((part) => ageOf(part) !== 'no pass'),
      history.head(),
    ),
  })
  print(`Parts that run now: ${plan.parts.map(({ name }) => name).join(', ')}`)
  return plan
}

/** Runs a part, and returns why it failed, or null. */
async function run(
  part: LongPart,
  { isRecorded }: { readonly isRecorded: boolean },
): Promise<string | null> {
  const { name, files, node, redis, filter = name, minutes = PART_MINUTES_MAX } = part
  const hasAll = node !== undefined || redis !== undefined
  using directory = createDirectory('long')
  const reportFile = join(directory.path, 'report.json')
  const limitMs = 60_000 * minutes * slowness()
  const commit = history.isChanged(RECORD) ? null : history.head()
  const startedMs = performance.now()
  print(`\n== ${name}: ${part.shows}`)
  const { path } = directory
  const ofRedis =
    redis === undefined
      ? {}
      : { REDIS_SERVER: await fetchRedis(redis, { repository: ROOT, directory: path }) }
  const child = spawn(
    process.execPath,
    [
      ...(node === undefined
        ? ['node_modules/vitest/vitest.mjs', 'run']
        : ['test/nodes.mjs', node]),
      ...files,
      ...(hasAll ? [] : [`--tags-filter=${filter}`]),
      ...(redis === undefined ? [] : ['--project=integration']),
      '--reporter=default',
      '--reporter=./test/support/report.ts',
      '--reporter=json',
      `--outputFile.json=${reportFile}`,
    ],
    {
      // A group of its own: workers end with it, and clusters when their worker ends.
      cwd: ROOT,
      stdio: 'inherit',
      detached: true,
      // A test whose program is missing fails, so that a part that was skipped is no pass.
      env: { ...process.env, CI: '1', ...(hasAll ? {} : { TEST_LONG: '1' }), ...ofRedis },
    },
  )
  const stop = () => process.kill(-(child.pid ?? 0), 'SIGKILL')
  const interrupt = () => {
    stop()
    process.exit(130)
  }
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, interrupt)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    stop()
  }, limitMs)
  const [status] = await once(child, 'exit')
  clearTimeout(timer)
  for (const signal of signals) process.off(signal, interrupt)
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  if (isLate) return `not done after ${seconds} s. Find what hangs, or divide the part`
  if (status !== 0) return `exit status ${status} after ${seconds} s`
  const report: Report = JSON.parse(readFileSync(reportFile, 'utf8'))
  if (report.numPassedTests === 0) return 'no test has the tag of this part'
  const figures = figuresOf(report)
  print(`passed ${name} in ${seconds} s: ${JSON.stringify(figures)}`)
  if (commit === null) print('not recorded, because files differed from the last commit')
  else if (isRecorded) record(name, { commit, date: today(), seconds, figures })
  return null
}

function figuresOf({ numPassedTests, testResults }: Report): Pass['figures'] {
  const measured = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ meta }) => meta.figures !== undefined)
    .map(({ title, meta }) => [title, meta.figures] as const)
  return { passed: numPassedTests, ...Object.fromEntries(measured) }
}

function record(name: string, pass: Pass): void {
  const rows = { ...readPasses(), [name]: pass }
  const known = PARTS.flatMap((part) => {
    const row = rows[part.name]
    return row === undefined ? [] : [[part.name, row] as const]
  })
  writeFileSync(join(ROOT, RECORD), `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`)
}

function readPasses(): Passes {
  const file = join(ROOT, RECORD)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}

function today(): string {
  return formatInstant(createSystemClock().nowMicros()).slice(0, 10)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
