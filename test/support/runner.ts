/**
 * Skips all tests of a file whose fixture lacks a requirement (test/support/requirements.ts). Of a fixture that is made once
 * for the file, vitest reports the skip as an error of each further test, if the file has a hook `aroundEach`.
 */
import { type RunnerTask, TestRunner } from 'vitest'

/** The code of the error by which vitest skips a test. */
const SKIP_CODE = 'VITEST_PENDING'

/** vitest loads a runner by its default export. */
export default class Runner extends TestRunner {
  override onAfterRunTask(task: RunnerTask): void {
    const errors = task.result?.errors ?? []
    if (errors.length > 0 && errors.every((error) => error['code'] === SKIP_CODE)) {
      task.mode = 'skip'
      // vitest reads these here, but does not declare them.
      const details = { note: errors[0]?.['note'], pending: true }
      task.result = Object.assign({ state: 'skip' as const }, details)
    }
    super.onAfterRunTask(task)
  }
}
