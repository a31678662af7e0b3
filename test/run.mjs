// `npm test` runs everything that CI runs, kind by kind, and prints the time of each. A kind that fails does not stop
// the others. vitest.config.ts lists the kinds of tests.
//
//   npm test                    all
//   npm test -- unit e2e        only these
//   npm run test:long           all, with many more steps of random tests (LONG=1), and
//                               the SDK's tests with other versions of Node
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVitest } from 'vitest/node'
import { runNodes } from './nodes.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = (name) => join(root, 'node_modules', '.bin', name)

/** Checks that do not run the product. */
const CHECKS = [
  { name: 'format and lint', command: ['biome', 'check', '.'] },
  { name: 'boundaries between packages', command: ['turbo', 'boundaries'] },
  {
    name: 'types',
    command: ['turbo', 'run', 'typecheck', '--ui=stream', '--output-logs=errors-only'],
  },
  {
    name: 'OpenAPI and AsyncAPI documents',
    command: ['redocly', 'lint', '--config', 'packages/api/redocly.yaml'],
  },
  { name: 'spelling', command: ['cspell', 'lint', '--no-progress', '--no-summary'] },
  { name: 'nothing unused', command: ['knip'] },
  { name: 'documentation site', command: ['node', 'docs/site/build.mjs'] },
]

/** Quick kinds run first, so that simple mistakes show early. Others follow in the order of the configuration. */
const QUICK = ['tidy', 'unit', 'integration', 'sdk', 'parity', 'vectors', 'sim']
/** Some of these start CometBFT. */
const ORDERING = ['integration', 'e2e']
/** Kinds that run in parallel; vitest.config.ts has the reason. */
const WAITING = ['e2e', 'conformance', 'browser', 'consumer']

/** Runs the named kinds, or all, and returns the exit code. */
export async function main(args) {
  if (args.includes('--long')) process.env.LONG = '1'
  const names = args.filter((arg) => arg !== '--long')
  const kinds = ['check', ...(await listProjects())]
  const unknown = names.find((name) => !kinds.includes(name))
  if (unknown !== undefined) {
    console.error(`unknown kind of tests ${unknown}; kinds are ${kinds.join(', ')}`)
    return 2
  }
  const needsEngine = names.length === 0 || names.some(isOrdering)
  const leftOut = needsEngine ? (await import('quorumscan/testing/engine')).whyNoEngine : null
  const results = []
  const startedAt = performance.now()
  for (const group of groupsOf(names.length > 0 ? names : kinds)) {
    console.log(`\n== ${group.join(', ')}`)
    results.push(...(group[0] === 'check' ? [runChecks()] : runProjects(group)))
  }
  if (process.env.LONG && names.length === 0) results.push(runOtherNodes())
  return report({ results, leftOut, seconds: secondsSince(startedAt) })
}

function isOrdering(kind) {
  return ORDERING.includes(kind)
}

/** Groups of kinds that run at the same time, in the order of their first kinds. */
function groupsOf(kinds) {
  const groups = new Map()
  for (const kind of kinds) {
    const key = [QUICK, WAITING].find((group) => group.includes(kind)) ?? kind
    groups.set(key, [...(groups.get(key) ?? []), kind])
  }
  return [...groups.values()]
}

async function listProjects() {
  const vitest = await createVitest('test', { root, watch: false })
  const names = vitest.projects.map((project) => project.name)
  await vitest.close()
  const order = [...QUICK, 'e2e']
  const rank = (name) => (order.includes(name) ? order.indexOf(name) : order.length)
  return names.sort((a, b) => rank(a) - rank(b))
}

function runChecks() {
  const startedAt = performance.now()
  const counts = { kind: 'check', passed: 0, failed: 0, skipped: 0, failures: [] }
  for (const { name, command } of CHECKS) {
    const [tool, ...args] = command
    const file = tool === 'node' ? process.execPath : bin(tool)
    const result = spawnSync(file, args, { cwd: root, encoding: 'utf8', env: environment() })
    if (result.status === 0) {
      counts.passed += 1
      console.log(`passed  ${name}`)
    } else {
      counts.failed += 1
      counts.failures.push(name)
      console.log(
        `${result.stdout ?? ''}${result.stderr ?? ''}\nFAILED  ${name} (${command.join(' ')})`,
      )
    }
  }
  return { ...counts, seconds: secondsSince(startedAt) }
}

function runOtherNodes() {
  const startedAt = performance.now()
  return {
    kind: 'nodes',
    skipped: 0,
    failures: [],
    ...runNodes(),
    seconds: secondsSince(startedAt),
  }
}

/** Runs projects of vitest in parallel, and counts the results of each. */
function runProjects(projects) {
  const directory = mkdtempSync(join(tmpdir(), 'qs-test-'))
  const outputFile = join(directory, 'results.json')
  try {
    const result = spawnSync(
      bin('vitest'),
      [
        'run',
        ...projects.map((project) => `--project=${project}`),
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${outputFile}`,
      ],
      { cwd: root, stdio: 'inherit', env: environment() },
    )
    const files = readFiles(outputFile)
    const results = projects.map((kind) => resultOf(kind, files))
    // An error outside of any test: a file that does not load, an unhandled rejection, or a crash.
    if (result.status !== 0 && results.every(({ failed }) => failed === 0)) {
      results[0].failed = 1
      results[0].failures.push('an error outside of any test: see above')
    }
    return results
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function readFiles(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).testResults
  } catch {
    // vitest has written no results. Its exit code makes this a failure.
    return []
  }
}

/** The kind of a test file. Tests of several workspaces are in a folder with the name of their kind. */
function kindOf({ name }) {
  const [top, next] = relative(root, name).split(sep)
  if (top === 'test') return next
  if (top === 'sdk') return 'sdk'
  return name.endsWith('.integration.test.ts') ? 'integration' : 'unit'
}

function resultOf(kind, files) {
  const own = files.filter((file) => kindOf(file) === kind)
  const tests = own.flatMap(({ assertionResults }) => assertionResults)
  const count = (...states) => tests.filter(({ status }) => states.includes(status)).length
  const start = Math.min(...own.map(({ startTime }) => startTime))
  const end = Math.max(...own.map(({ endTime }) => endTime))
  return {
    kind,
    seconds: own.length === 0 ? 0 : (end - start) / 1000,
    passed: count('passed'),
    // A file that could not be loaded also counts as a failure.
    failed:
      count('failed') +
      own.filter((f) => f.status === 'failed' && f.assertionResults.length === 0).length,
    skipped: count('pending', 'skipped', 'todo'),
    failures: own.flatMap(failuresOf),
  }
}

/** A line for each failed test of a file, with the first line of its message. */
function failuresOf({ name, status, message, assertionResults }) {
  const file = relative(root, name)
  const failed = assertionResults.filter((test) => test.status === 'failed')
  if (status === 'failed' && assertionResults.length === 0)
    return [`${file}: ${firstLine(message)}`]
  return failed.map((test) => `${file}: ${test.fullName}: ${firstLine(test.failureMessages[0])}`)
}

function firstLine(text) {
  return (text ?? '').split('\n')[0]
}

function report({ results, leftOut, seconds }) {
  const sum = (member) => results.reduce((total, result) => total + result[member], 0)
  console.log('\nkind           seconds   passed   failed  skipped')
  for (const result of results)
    console.log(
      `${result.kind.padEnd(12)} ${result.seconds.toFixed(1).padStart(9)} ${cell(result.passed)} ${cell(result.failed)} ${cell(result.skipped)}`,
    )
  // Failures are at the very end, where they are visible after a long output.
  for (const { kind, failures } of results)
    for (const failure of failures) console.log(`\nFAILED  ${kind}  ${failure}`)
  if (leftOut !== null)
    console.log(`\nSKIPPED  tests of members that order the log together: ${leftOut}`)
  console.log(
    `\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped in ${seconds.toFixed(0)} s`,
  )
  return sum('failed') === 0 ? 0 : 1
}

function secondsSince(start) {
  return (performance.now() - start) / 1000
}

function cell(count) {
  return String(count).padStart(8)
}

function environment() {
  return { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' }
}
