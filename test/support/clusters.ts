/** Clusters for tests, whose logs are printed where the test fails, or where they do not start. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { required } from '@quorumscan/testkit'
import {
  type RunningCluster,
  type StartClusterOptions,
  startCluster as start,
} from 'quorumscan/testing'
import { deleteAfterTest, printLogs } from './test-logs.ts'

/** As `startCluster` of the product, in a data directory that is deleted at the end unless it was handed in. */
export async function startCluster(options: StartClusterOptions = {}): Promise<RunningCluster> {
  required('redis')
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'qs-test-')))
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
