// `npm test`: everything that CI runs, kind by kind, with the time of each at the end. A kind that fails
// does not stop the others. Which kinds of tests there are, vitest.config.ts says.
//
//   npm test                    all
//   npm test -- unit e2e        only these
//   npm run test:long           all, and tests that draw their steps at random take many more (LONG=1)
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVitest } from 'vitest/node'

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
  { name: 'nothing unused', command: ['knip'] },
]

/** Quick kinds first: who waits sees a plain mistake early. Others follow in the order of the config. */
const ORDER = ['tidy', 'unit', 'parity', 'sim', 'e2e']

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
  const results = []
  for (const kind of names.length > 0 ? names : kinds) {
    console.log(`\n== ${kind}`)
    const startedAt = performance.now()
    const counts = kind === 'check' ? runChecks() : runProject(kind)
    results.push({ kind, ...counts, seconds: (performance.now() - startedAt) / 1000 })
  }
  return report(results)
}

async function listProjects() {
  const vitest = await createVitest('test', { root, watch: false })
  const names = vitest.projects.map((project) => project.name)
  await vitest.close()
  const rank = (name) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length)
  return names.sort((a, b) => rank(a) - rank(b))
}

function runChecks() {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const { name, command } of CHECKS) {
    const [tool, ...args] = command
    const result = spawnSync(bin(tool), args, { cwd: root, encoding: 'utf8', env: environment() })
    if (result.status === 0) {
      counts.passed += 1
      console.log(`passed  ${name}`)
    } else {
      counts.failed += 1
      console.log(
        `${result.stdout ?? ''}${result.stderr ?? ''}\nFAILED  ${name} (${command.join(' ')})`,
      )
    }
  }
  return counts
}

function runProject(project) {
  const directory = mkdtempSync(join(tmpdir(), 'qs-test-'))
  const outputFile = join(directory, 'results.json')
  try {
    const result = spawnSync(
      bin('vitest'),
      [
        'run',
        '--project',
        project,
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${outputFile}`,
      ],
      { cwd: root, stdio: 'inherit', env: environment() },
    )
    const counts = readCounts(outputFile)
    // Outside of any test: a file that does not load, an error that nobody awaited, a crash.
    if (result.status !== 0 && counts.failed === 0) counts.failed = 1
    return counts
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function readCounts(file) {
  try {
    const results = JSON.parse(readFileSync(file, 'utf8'))
    return {
      passed: results.numPassedTests,
      failed: results.numFailedTests,
      skipped: results.numPendingTests + (results.numTodoTests ?? 0),
    }
  } catch {
    // vitest did not get as far as writing its results; its exit code makes that a failure.
    return { passed: 0, failed: 0, skipped: 0 }
  }
}

function report(results) {
  const sum = (member) => results.reduce((total, result) => total + result[member], 0)
  console.log('\nkind           seconds   passed   failed  skipped')
  for (const { kind, seconds, passed, failed, skipped } of results)
    console.log(
      `${kind.padEnd(12)} ${seconds.toFixed(1).padStart(9)} ${cell(passed)} ${cell(failed)} ${cell(skipped)}`,
    )
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`)
  return sum('failed') === 0 ? 0 : 1
}

function cell(count) {
  return String(count).padStart(8)
}

function environment() {
  return { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' }
}
