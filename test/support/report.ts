/**
 * What a run of tests reports: each file that ends, and the end of the run. Test/run.mjs, which starts several processes
 * of vitest, receives it as messages; without it, the end is printed.
 */
import { stripVTControlCharacters } from 'node:util'
import type { RunnerTask } from 'vitest'
import type {
  Reporter,
  SerializedError,
  TestCase,
  TestModule,
  TestSpecification,
  Vitest,
} from 'vitest/node'
import { record, secondsOf, slowerThanRecorded } from './durations.ts'
import { linesOf, type Summary } from './summary.mjs'
import { isOfSet, testSet } from './test-set.ts'

/** Of the difference that is printed for a failure. */
const DIFFERENCE_LINES_MAX = 20
const LINE_MAX = 400

type Figures = { start: number; end: number; passed: number; failed: number; skipped: number }

/** vitest loads a reporter by its default export. */
export default class Report implements Reporter {
  readonly #startedAt = performance.now()
  readonly #kinds = new Map<string, Figures>()
  readonly #skipped = new Map<string, number>()
  #vitest: Vitest | null = null
  /** Whether only tests with some title run. */
  #isNamed = false

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
    this.#isNamed = vitest.config.testNamePattern !== undefined
    // A run that is killed leaves no processes: workers, and their clusters, end with this one.
    process.once('disconnect', () => process.exit(1))
    // The listener alone would keep this process running.
    process.channel?.unref()
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const selected = specifications.filter(({ moduleId }) => isOfSet(moduleId))
    const files = selected.map(({ moduleId, project: { name: kind } }) => ({
      kind,
      seconds: secondsOf(moduleId),
    }))
    send({ type: 'start', files })
  }

  onTestModuleStart({ project: { name } }: TestModule): void {
    const start = performance.now()
    if (!this.#kinds.has(name))
      this.#kinds.set(name, { start, end: start, passed: 0, failed: 0, skipped: 0 })
  }

  onTestModuleEnd(module: TestModule): void {
    const { name } = module.project
    const figures = this.#kinds.get(name)
    if (figures === undefined) return
    figures.end = performance.now()
    const count = (state: 'passed' | 'failed') => [...module.children.allTests(state)].length
    const [passed, failed] = [count('passed'), count('failed')]
    figures.passed += passed
    figures.failed += failed
    const skipped = [...module.children.allTests('skipped')]
    for (const reason of skipped.flatMap((test) => this.#reasonsOf(test))) {
      figures.skipped += 1
      this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1)
    }
    send({ type: 'end', kind: name, seconds: secondsOf(module.moduleId), passed, failed })
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const kinds = [...this.#kinds].map(([name, { start, end, ...counts }]) => ({
      name,
      seconds: (end - start) / 1000,
      ...counts,
    }))
    const failures = modules.flatMap((module) =>
      failuresOf(module).map(
        (failure) => `${module.project.name}  ${module.relativeModuleId}: ${failure}`,
      ),
    )
    const outside = errors.map((error) => `outside of any test: ${firstLine(error)}`)
    const slower = this.#isNamed || testSet() === 'long' ? null : compare(modules)
    const summary: Summary = {
      kinds,
      failures: [...failures, ...outside],
      skipped: Object.fromEntries(this.#skipped),
      slower: slower === null ? [] : [slower],
    }
    send({ type: 'summary', summary })
    if (process.send !== undefined) return
    for (const line of linesOf(summary, (performance.now() - this.#startedAt) / 1000)) print(line)
  }

  /** The reason that a test, or a hook of its suites or its file, gave to `skip`. */
  #noteOf(test: TestCase): string | undefined {
    for (
      let task: RunnerTask | undefined = this.#vitest?.state.idMap.get(test.id);
      task !== undefined;
      task = task.suite ?? (task === task.file ? undefined : task.file)
    ) {
      const { note } = (task.result ?? {}) as { readonly note?: string }
      if (note !== undefined) return note
    }
    return undefined
  }

  /** Why a test was skipped; empty if it belongs to another run. */
  #reasonsOf(test: TestCase): string[] {
    const note = this.#noteOf(test)
    if (note !== undefined) return [note]
    const isRest = test.tags.includes('rest')
    const isSelected = { main: !isRest, rest: isRest, all: true, long: false }[testSet()]
    return isSelected && !test.tags.includes('long') && !this.#isNamed
      ? ['not for this machine']
      : []
  }
}

/** To test/run.mjs, if it started this process. */
function send(message: object): void {
  process.send?.(message)
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

/** Records how long files took, or compares it with the record. */
function compare(modules: readonly TestModule[]): string | null {
  const passed = modules.filter((module) => module.state() === 'passed')
  const seconds = Object.fromEntries(
    passed.map((module) => [module.relativeModuleId, module.diagnostic().duration / 1000]),
  )
  if (!process.env['TEST_RECORD']) return slowerThanRecorded(seconds)
  record(seconds)
  return null
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
