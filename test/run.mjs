// `npm test` runs everything that CI runs. A kind that fails does not stop the others. vitest.config.ts lists the kinds of
// tests and which run at the same time; test/support/report.ts prints the summary.
//
//   npm test                        all
//   npm test -- unit e2e            only these; `check`: checks that do not run the product
//   npm test -- FILE -t TITLE       a file or a folder; options are those of vitest
//   npm run test:durations          all, and records how long each file takes in test/durations.json
//   npm run test:long               long tests, in parts (test/long/main.ts)
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments } from './programs.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Checks that do not run the product. */
const CHECKS = [
  { name: 'format and lint', command: ['biome', 'check', '.'] },
  { name: 'boundaries between packages', command: ['turbo', 'boundaries'] },
  { name: 'types', command: ['tsc', '-p', '.'] },
  {
    name: 'OpenAPI and AsyncAPI documents',
    command: ['redocly', 'lint', '--config', 'packages/api/redocly.yaml'],
  },
  { name: 'spelling', command: ['cspell', 'lint', '--no-progress', '--no-summary'] },
  { name: 'nothing unused', command: ['knip'] },
  { name: 'documentation site', command: ['node', 'docs/site/build.mjs'] },
]

/** Runs the kinds and files that are named, or all, and returns the exit code. */
export async function main(args) {
  const { kinds, files, options } = readArguments(args)
  const isAll = kinds.length + files.length === 0
  const failures = isAll || kinds.includes('check') ? runChecks() : []
  const projects = kinds.filter((kind) => kind !== 'check')
  if ((isAll || projects.length + files.length > 0) && !runTests(projects, [...files, ...options]))
    failures.push('tests: see above')
  for (const failure of failures) console.log(`\nFAILED  ${failure}`)
  return failures.length === 0 ? 0 : 1
}

function runChecks() {
  return CHECKS.filter(({ name, command }) => {
    const result = run(command, 'pipe')
    const isPassed = result.status === 0
    if (!isPassed) console.log(`${result.stdout ?? ''}${result.stderr ?? ''}`)
    console.log(`${isPassed ? 'passed' : 'FAILED'}  ${name} (${command.join(' ')})`)
    return !isPassed
  }).map(({ name }) => name)
}

function runTests(projects, words) {
  const only = projects.map((project) => `--project=${project}`)
  const reporters = ['--reporter=default', '--reporter=./test/support/report.ts']
  return run(['vitest', 'run', ...only, ...reporters, ...words], 'inherit').status === 0
}

function run([tool, ...args], stdio) {
  const file = tool === 'node' ? process.execPath : join(root, 'node_modules', '.bin', tool)
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' }
  return spawnSync(file, args, { cwd: root, encoding: 'utf8', stdio, env })
}
