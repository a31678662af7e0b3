/** The end of `npm test`: time and counts of each kind, a line for each failure, what was skipped, what became slower. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node'
import { record, slowerThanRecorded } from './durations.ts'

/** Of the difference that is printed for a failure. */
const DIFFERENCE_LINES_MAX = 20
const LINE_MAX = 400

type Kind = { readonly start: number; end: number; passed: number; failed: number; skipped: number }

/** vitest loads a reporter by its default export. */
export default class Report implements Reporter {
  readonly #startedAt = performance.now()
  readonly #kinds = new Map<string, Kind>()
  /** What is missing on this machine: workers append to this file (testkit/src/requirements.ts). */
  readonly #missingFile = join(tmpdir(), `qs-missing-${process.pid}`)
  #isWhole = true

  onInit({ config }: Vitest): void {
    process.env['TEST_MISSING_FILE'] = this.#missingFile
    this.#isWhole =
      config.testNamePattern === undefined && config.tagsFilter?.includes('!long') === true
  }

  #takeMissing(): ReadonlySet<string> {
    const lines = existsSync(this.#missingFile) ? readFileSync(this.#missingFile, 'utf8') : ''
    rmSync(this.#missingFile, { force: true })
    return new Set(lines.split('\n').filter((line) => line !== ''))
  }

  onTestModuleStart({ project: { name } }: TestModule): void {
    const start = performance.now()
    const kind = { start, end: start, passed: 0, failed: 0, skipped: 0 }
    if (!this.#kinds.has(name)) this.#kinds.set(name, kind)
  }

  onTestModuleEnd(module: TestModule): void {
    const kind = this.#kinds.get(module.project.name)
    if (kind === undefined) return
    kind.end = performance.now()
    for (const state of ['passed', 'failed', 'skipped'] as const)
      kind[state] += [...module.children.allTests(state)].length
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    print('\nkind           seconds   passed   failed  skipped')
    const rows = [...this.#kinds].map(([name, kind]) => ({ name, ...kind }))
    for (const { name, start, end, passed, failed, skipped } of rows) {
      const seconds = ((end - start) / 1000).toFixed(1)
      const cells = [passed, failed, skipped].map((count) => String(count).padStart(8))
      print(`${name.padEnd(12)} ${seconds.padStart(9)} ${cells.join(' ')}`)
    }
    // At the very end: a reader of the last lines of a long output sees what failed.
    for (const module of modules)
      for (const failure of failuresOf(module))
        print(`\nFAILED  ${module.project.name}  ${module.relativeModuleId}: ${failure}`)
    for (const error of errors) print(`\nFAILED  outside of any test: ${firstLine(error)}`)
    for (const missing of this.#takeMissing()) print(`\nSKIPPED  tests for which ${missing}`)
    if (this.#isWhole) compare(modules)
    const sum = (key: 'passed' | 'failed' | 'skipped') =>
      rows.reduce((total, row) => total + row[key], 0)
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(0)
    print(
      `\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped in ${seconds} s`,
    )
  }
}

/** Of tests, and of the file and its hooks, where no test failed because none ran. */
function failuresOf(module: TestModule): string[] {
  if (module.ok()) return []
  const tests = [...module.children.allTests('failed')].map((test) => {
    const [error] = test.result().errors ?? []
    return `${test.fullName}: ${firstLine(error)}${differenceOf(error)}`
  })
  const around = [module, ...module.children.allSuites()].flatMap((one) => one.errors())
  return [...tests, ...around.map(firstLine)]
}

function firstLine(error: { readonly message: string } | undefined): string {
  return error?.message.split('\n', 1)[0] ?? ''
}

/** Expected and received value, of which the first line shows little; empty for other errors. */
function differenceOf(error: { readonly diff?: string } | undefined): string {
  const lines = stripVTControlCharacters(error?.diff ?? '').split('\n')
  const shown = lines.slice(0, DIFFERENCE_LINES_MAX).map((line) => line.slice(0, LINE_MAX))
  return error?.diff === undefined ? '' : `\n${shown.join('\n')}`
}

function compare(modules: readonly TestModule[]): void {
  const passed = modules.filter((module) => module.state() === 'passed')
  const seconds = Object.fromEntries(
    passed.map((module) => [module.relativeModuleId, module.diagnostic().duration / 1000]),
  )
  const sentence = slowerThanRecorded(seconds)
  if (process.env['TEST_RECORD']) record(seconds)
  else if (sentence !== null) print(`\nSLOWER  ${sentence}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
