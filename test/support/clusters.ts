/** Clusters for tests. Their logs are printed if the test fails or the cluster does not start. */
import { createDirectory, required } from '@quorumscan/testkit'
import {
  type RunningCluster,
  type StartClusterOptions,
  startCluster as start,
} from 'quorumscan/testing'
import { deleteAfterTest, printLogs } from './test-logs.ts'

/** Starts a cluster. Its data directory is deleted at the end, unless `options` sets it. */
export async function startCluster(options: StartClusterOptions = {}): Promise<RunningCluster> {
  required('redis')
  const dataDir = options.dataDir ?? createDirectory('test').path
  const end = () => {
    if (options.dataDir === undefined) deleteAfterTest(dataDir)
  }
  try {
    const cluster = await start({ ...options, dataDir })
    const down = () => cluster.down().finally(end)
    return { ...cluster, down, [Symbol.asyncDispose]: down }
  } catch (error) {
    printLogs()
    end()
    throw error
  }
}
