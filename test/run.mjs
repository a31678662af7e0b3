// Runs the tests of `npm test`, of `npm run test:rest`, or of both (test/support/test-set.ts), and checks that do not run
// the product. A kind that fails does not stop the others. vitest.config.ts lists the kinds of tests.
//
//   npm test                        at most five minutes: what to run before a change is submitted
//   npm run test:rest               all other tests, but the long ones
//   npm run test:all                both
//   npm test -- unit e2e            only these kinds; `check`: checks that do not run the product
//   npm test -- FILE -t TITLE       a file or a folder; options are those of vitest
//   npm run test:durations          all, and records how long each file takes in test/durations.json
//   npm run test:long               long tests, in parts (test/long/main.ts)
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { KINDS, readArguments } from './programs.mjs'
import { createProgress } from './support/progress.mjs'
import { linesOf, merged } from './support/summary.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Checks that do not run the product. `npm test` has the cheap ones. */
const CHECKS = [
  { name: 'format and lint', command: ['biome', 'check', '.', '--error-on-warnings'] },
  { name: 'boundaries between packages', command: ['turbo', 'boundaries'] },
  { name: 'types', command: ['tsc', '-p', '.'] },
  {
    name: 'OpenAPI and AsyncAPI documents',
    command: ['redocly', 'lint', '--config', 'packages/api/redocly.yaml'],
    isRest: true,
  },
  {
    name: 'spelling',
    command: [
      'cspell',
      'lint',
      '--no-progress',
      '--no-summary',
      '--cache',
      '--cache-strategy',
      'content',
      '--cache-location',
      'node_modules/.cache/cspell',
    ],
    isRest: true,
  },
  { name: 'nothing unused', command: ['knip', '--cache'], isRest: true },
]

/**
 * Kinds that run at the same time, in a process of vitest each. Tests of processes wait most of the time, while the others
 * compute. On one core they run in turn: together they would make each test slower than its limit.
 */
const OF_PROCESSES = ['consumer', 'conformance', 'browser', 'e2e', 'attacks', 'suites']
const LANES = [
  KINDS.filter((kind) => kind !== 'check' && !OF_PROCESSES.includes(kind)),
  OF_PROCESSES,
]

/** Runs the kinds and files that are named, or all, and returns the exit code. */
export async function main(args) {
  const { kinds, files, options } = readArguments(args)
  const isNamed = files.length + options.length > 0
  // A file or a title that is named runs, whichever run it belongs to.
  const set = process.env.TEST_SET || (isNamed ? 'all' : 'main')
  const checks = isNamed ? [] : checksOf(set, kinds)
  const projects = kinds.filter((kind) => kind !== 'check')
  const lanes = isNamed
    ? [projects]
    : LANES.map((lane) => lane.filter((kind) => kinds.length === 0 || projects.includes(kind)))
  const startedMs = performance.now()
  const progress = createProgress()
  const runLane = (lane) =>
    runTests(lane, [...files, ...options], { set, progress, isShown: isNamed })
  const [failedChecks, ...summaries] = await allOf([
    () => runChecks(checks),
    ...lanes.filter((lane) => isNamed || lane.length > 0).map((lane) => () => runLane(lane)),
  ])
  progress.end()
  const summary = merged(summaries)
  const failures = [...summary.failures, ...failedChecks]
  const seconds = (performance.now() - startedMs) / 1000
  for (const line of linesOf({ ...summary, failures }, seconds)) console.log(line)
  return failures.length === 0 ? 0 : 1
}

/** The results of tasks that run at once, or in turn on one core. */
async function allOf(tasks) {
  if (availableParallelism() > 1) return Promise.all(tasks.map((task) => task()))
  const results = []
  for (const task of tasks) results.push(await task())
  return results
}

/** The checks of a set of tests; all of them if `check` is named. */
function checksOf(set, kinds) {
  if (kinds.includes('check') || (kinds.length === 0 && set === 'all')) return CHECKS
  return CHECKS.filter(({ isRest = false }) => kinds.length === 0 && isRest === (set === 'rest'))
}

/** Returns the names of those that failed. */
async function runChecks(checks) {
  const failed = []
  for (const check of checks) if (!(await runCheck(check))) failed.push(check.name)
  return failed
}

/** Returns whether it passed. */
async function runCheck({ name, command: [tool, ...args] }) {
  const child = start(join(root, 'node_modules', '.bin', tool), args, ['ignore', 'pipe', 'pipe'])
  const output = collect(child)
  const [status] = await once(child, 'close')
  if (status !== 0) process.stdout.write(output.text)
  console.log(`${status === 0 ? 'passed' : 'FAILED'}  ${name} (${tool} ${args.join(' ')})`)
  return status === 0
}

/**
 * Runs the tests of some kinds in a process of vitest.
 *
 * @returns Its summary (test/support/summary.mjs).
 */
async function runTests(projects, words, { set, progress, isShown }) {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const args = [
    vitest,
    'run',
    ...projects.map((project) => `--project=${project}`),
    // Without the titles of tests that pass, unless files are named.
    `--reporter=${isShown ? 'default' : 'minimal'}`,
    '--reporter=./test/support/report.ts',
    ...words,
  ]
  const env = { TEST_SET: set }
  const child = start(process.execPath, args, ['inherit', 'inherit', 'inherit', 'ipc'], env)
  let summary = null
  const lane = progress.lane()
  child.on('message', (message) => {
    if (message.type === 'summary') summary = message.summary
    else if (!isShown) lane(message)
  })
  const [status] = await once(child, 'close')
  if (summary === null) return noSummary(`vitest ended with status ${status}`)
  if (status === 0 || summary.failures.length > 0) return summary
  return { ...summary, failures: [`tests: vitest ended with status ${status}`] }
}

function noSummary(failure) {
  return { kinds: [], failures: [failure], skipped: {}, slower: [] }
}

function start(file, args, stdio, more = {}) {
  const quiet = { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' }
  return spawn(file, args, { cwd: root, stdio, env: { ...process.env, ...quiet, ...more } })
}

function collect(child) {
  const output = { text: '' }
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output.text += text
    })
  return output
}
