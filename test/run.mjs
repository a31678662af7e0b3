// `npm test` runs everything that CI runs. A kind that fails does not stop the others. vitest.config.ts lists the kinds of
// tests and which run at the same time; test/support/report.ts prints the summary.
//
//   npm test                        all
//   npm test -- unit e2e            only these; `check`: checks that do not run the product
//   npm test -- FILE -t TITLE       a file or a folder; options are those of vitest
//   npm run test:durations          all, and records how long each file takes in test/durations.json
//   npm run test:long               long tests, in parts (test/long/main.ts)
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { KINDS, readArguments } from './programs.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Checks that do not run the product. */
const CHECKS = [
  { name: 'format and lint', command: ['biome', 'check', '.', '--error-on-warnings'] },
  { name: 'boundaries between packages', command: ['turbo', 'boundaries'] },
  { name: 'types', command: ['tsc', '-p', '.'] },
  {
    name: 'OpenAPI and AsyncAPI documents',
    command: ['redocly', 'lint', '--config', 'packages/api/redocly.yaml'],
  },
  {
    name: 'spelling',
    command: [
      ...['cspell', 'lint', '--no-progress', '--no-summary', '--cache'],
      ...['--cache-strategy', 'content', '--cache-location', 'node_modules/.cache/cspell'],
    ],
  },
  { name: 'nothing unused', command: ['knip', '--cache'] },
]
/** Kinds that turbo runs, once for each state of the sources that they depend on: the `test` scripts of the workspaces. */
const CACHED_KINDS = ['unit', 'integration', 'sdk', 'sim', 'vectors', 'site']
const CACHED = {
  name: CACHED_KINDS.join(', '),
  // Two workspaces at a time: the last file of one does not let processors wait.
  command: ['turbo', 'run', 'test', '--concurrency=2', '--continue', '--ui=stream'],
}

/** Runs the kinds and files that are named, or all, and returns the exit code. */
export async function main(args) {
  const { kinds, files, options } = readArguments(args)
  const isAll = kinds.length + files.length === 0
  const projects = kinds.filter((kind) => kind !== 'check')
  const isTesting = isAll || projects.length + files.length > 0
  const checks = []
  const check = async (one) => {
    checks.push(await runCheck(one))
    // The reporter of the tests owns the terminal until they end.
    if (!isTesting) console.log(checks.at(-1).text)
  }
  // `npm run test:durations` measures the files that turbo would run as well.
  const isCaching = isAll && options.length === 0 && !process.env.TEST_RECORD
  const others = KINDS.filter(
    (kind) => kind !== 'check' && !(isCaching && CACHED_KINDS.includes(kind)),
  )
  // Tests wait for processes and timers. Meanwhile checks compute.
  const testing = isTesting ? runTests(isAll ? others : projects, [...files, ...options]) : true
  if (isAll || kinds.includes('check')) for (const one of CHECKS) await check(one)
  if (isCaching) await check(CACHED)
  const isPassed = await testing
  if (isTesting) for (const { text } of checks) console.log(text)
  // At the very end: a reader of the last lines of a long output sees what failed.
  const failures = checks
    .filter((check) => !check.isPassed)
    .map(({ name, failedTests }) => [name, ...failedTests].join('\n  '))
  if (!isPassed) failures.push('tests: see above')
  for (const failure of failures) console.log(`\nFAILED  ${failure}`)
  return failures.length === 0 ? 0 : 1
}

async function runCheck({ name, command }) {
  const { status, output } = await run(command, 'pipe')
  const isPassed = status === 0
  const line = `${isPassed ? 'passed' : 'FAILED'}  ${name} (${command.join(' ')})${countsOf(output)}`
  const text = isPassed ? line : `${output}${line}`
  return { name, isPassed, text, failedTests: failedTestsIn(output) }
}

/** The titles of the tests that vitest reports as failed in the output of turbo, each with the first line of its error. */
function failedTestsIn(output) {
  const lines = stripVTControlCharacters(output).split('\n')
  return lines.flatMap((line, index) => {
    const title = / FAIL {2}(.*)/.exec(line)?.[1]
    // turbo begins each line with its task.
    return title === undefined
      ? []
      : [title.trim(), lines[index + 1]?.replace(/^\S+:test: /, '    ')]
  })
}

/** What vitest and turbo count in the output of the `test` scripts; empty for other checks. */
function countsOf(output) {
  const text = stripVTControlCharacters(output)
  const passed = [...text.matchAll(/ Tests .*?([0-9]+) passed/g)]
  if (passed.length === 0) return ''
  const sum = passed.reduce((total, [, count]) => total + Number(count), 0)
  const [, cached = '0', all = '0'] = /Cached: +([0-9]+) cached, ([0-9]+) total/.exec(text) ?? []
  return `: ${sum} passed; ${cached} of ${all} tasks unchanged`
}

async function runTests(projects, words) {
  const only = projects.map((project) => `--project=${project}`)
  const reporters = ['--reporter=default', '--reporter=./test/support/report.ts']
  const { status } = await run(['vitest', 'run', ...only, ...reporters, ...words], 'inherit')
  return status === 0
}

async function run([tool, ...args], stdio) {
  const file = join(root, 'node_modules', '.bin', tool)
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' }
  const child = spawn(file, args, { cwd: root, stdio: ['inherit', stdio, stdio], env })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  const [status] = await once(child, 'close')
  return { status, output }
}
