/** Loaded before each file of tests on clusters: after a failed test it prints the logs of its processes. */
import { afterAll, afterEach } from 'vitest'
import { deleteEnded, keepTemporaryFilesTogether, printLogs } from './test-logs.ts'

const temporary = keepTemporaryFilesTogether()
// It runs after all other hooks, because it is registered first.
afterAll(() => temporary[Symbol.dispose]())

afterEach(({ task }) => {
  if (task.result?.state === 'fail') printLogs()
  deleteEnded()
})
