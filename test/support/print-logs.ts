/** Loaded before each file of tests on clusters: a failure prints the logs of the processes that it concerns. */
import { afterAll, afterEach } from 'vitest'
import { deleteEnded, keepTemporaryFilesTogether, printLogs } from './test-logs.ts'

const temporary = keepTemporaryFilesTogether()
// The last of all, as it is the first that is registered.
afterAll(() => temporary[Symbol.dispose]())

afterEach(({ task }) => {
  if (task.result?.state === 'fail') printLogs()
  deleteEnded()
})
