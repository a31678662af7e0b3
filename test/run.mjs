// `npm test`: everything that CI runs, kind by kind, with the time of each at the end. A kind that fails
// does not stop the others. Which kinds of tests there are, vitest.config.ts says.
//
//   npm test                    all
//   npm test -- unit e2e        only these
//   npm run test:long           all, and tests that draw their steps at random take many more (LONG=1);
//                               those of the SDK under other versions of Node, too
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVitest } from 'vitest/node'
import { runNodes } from './nodes.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = (name) => join(root, 'node_modules', '.bin', name)

/** What is checked without running the product. */
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

/** Quick kinds first: who waits sees a plain mistake early. Others follow in the order of the config. */
const QUICK = ['tidy', 'unit', 'integration', 'sdk', 'parity', 'vectors', 'sim']
/** Some of these start CometBFT. */
const ORDERING = ['integration', 'e2e']
/** Run side by side; vitest.config.ts says why. */
const WAITING = ['e2e', 'conformance', 'browser', 'consumer']

/** Runs the kinds that are named, or all, and returns the exit code. */
export async function main(args) {
  if (args.includes('--long')) process.env.LONG = '1'
  const names = args.filter((arg) => arg !== '--long')
  const kinds = ['check', ...(await listProjects())]
  const unknown = names.find((name) => !kinds.includes(name))
  if (unknown !== undefined) {
    console.error(`There is no kind of test named ${unknown}; there are: ${kinds.join(', ')}.`)
    return 2
  }
  const isOrderingAsked = names.length === 0 || names.some(isOrdering)
  const leftOut = isOrderingAsked ? (await import('quorumscan/testing/engine')).whyNoEngine : null
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

/** Kinds that run at the same time, in the order of the first of each. */
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

/** Runs projects of vitest side by side, and counts each on its own. */
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
    // Outside of any test: a file that does not load, an unhandled rejection, a crash.
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
    // vitest did not get as far as writing its results; its exit code makes that a failure.
    return []
  }
}

/** Tests across workspaces lie in a folder that is named as their kind, those of the SDK in its own. */
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
    // A file of which nothing ran, because it could not be loaded, is one, too.
    failed:
      count('failed') +
      own.filter((f) => f.status === 'failed' && f.assertionResults.length === 0).length,
    skipped: count('pending', 'skipped', 'todo'),
    failures: own.flatMap(failuresOf),
  }
}

/** A line for each test of a file that failed, with the first line of why. */
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
  // At the very end: a reader of the last lines of a long output sees what failed.
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
