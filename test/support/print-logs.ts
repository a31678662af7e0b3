/** Loaded before each file of tests on clusters: a failure prints the logs of the processes that it concerns. */
import { afterEach } from 'vitest'
import { printLogs } from './clusters.ts'

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await printLogs()
})
