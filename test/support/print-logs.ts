/** Loaded before each file of tests on clusters: after a failed test it prints the logs of its processes. */
import { aroundAll, aroundEach } from 'vitest'
import { deleteEnded, keepTemporaryFilesTogether, printLogs } from './test-logs.ts'

const temporary = keepTemporaryFilesTogether()
// After all hooks, and after the fixtures of the file: they stop what uses these files.
aroundAll(async (runSuite) => {
  using _after = temporary
  await runSuite()
})

// After all `afterEach` hooks, also one that throws. It does not throw itself: the task has the failures.
aroundEach(async (runTest, { task }) => {
  await runTest()
  if (task.result?.state === 'fail') printLogs()
  deleteEnded()
})
