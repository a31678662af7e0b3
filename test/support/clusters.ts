/** Clusters for tests. Their logs are printed if the test fails or the cluster does not start. */
import { createDirectory, required } from '@quorumscan/testkit'
import {
  type RunningCluster,
  type StartClusterOptions,
  startCluster as start,
} from 'quorumscan/testing'
import { deleteAfterTest, printLogs } from './test-logs.ts'

/**
 * Blocks of ports that only clusters of this worker use: while a test has stopped its cluster, no other one takes its
 * ports. Below the ports that clusters draw otherwise.
 */
const BLOCKS = { firstPort: 5000, ports: 64, ofWorker: 9, workers: 8 }

/** Base ports to try, in order. */
function* basePorts(): Generator<number> {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % BLOCKS.workers
  for (let block = 0; block < BLOCKS.ofWorker; block++)
    yield BLOCKS.firstPort + (worker * BLOCKS.ofWorker + block) * BLOCKS.ports
}

/** Starts a cluster. Its data directory is deleted at the end, unless `options` sets it. */
export async function startCluster(options: StartClusterOptions = {}): Promise<RunningCluster> {
  required('redis')
  const dataDir = options.dataDir ?? createDirectory('test').path
  const end = () => {
    if (options.dataDir === undefined) deleteAfterTest(dataDir)
  }
  try {
    const cluster = await startAtFreeBlock({ ...options, dataDir })
    const down = () => cluster.down().finally(end)
    return { ...cluster, down, [Symbol.asyncDispose]: down }
  } catch (error) {
    printLogs()
    end()
    throw error
  }
}

async function startAtFreeBlock(options: StartClusterOptions): Promise<RunningCluster> {
  for (const basePort of basePorts())
    try {
      return await start({ basePort, ...options })
    } catch (error) {
      if (!/port [0-9]+ (of the control plane )?is in use/.test(String(error))) throw error
    }
  throw new Error('another program uses a port of each block')
}
