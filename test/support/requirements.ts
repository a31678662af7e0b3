/** Loaded before each file of tests: a fixture that needs a missing program skips the tests that use it, by name. */
import { skipTestsBy } from '@quorumscan/testkit/requirements'
import { beforeAll, type RunnerTask, type RunnerTestCase, TestRunner } from 'vitest'

// biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern, and passes the file second.
beforeAll(({}, file) => {
  skipTestsBy((reason) => {
    // In a `beforeAll` no test is running. The skip of any test, thrown there, skips the whole suite.
    const test = TestRunner.getCurrentTest() ?? testsOf(file.tasks).find(({ result }) => !result)
    if (test === undefined) throw new Error(reason)
    // Hooks of `aroundEach` lose the reason. vitest reads it here, but does not declare it.
    if (test.result !== undefined) Object.assign(test.result, { note: reason })
    return test.context.skip(reason)
  })
})

function testsOf(tasks: readonly RunnerTask[]): RunnerTestCase[] {
  return tasks.flatMap((task) => (task.type === 'suite' ? testsOf(task.tasks) : [task]))
}
