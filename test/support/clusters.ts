/**
 * Clusters for tests. Where a test fails, or a cluster does not start, the logs of its processes are printed:
 * what a failed run leaves behind is what it printed.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type RunningCluster,
  type StartClusterOptions,
  startCluster as start,
} from 'quorumscan/testing'

/** Of each process. */
const LINES_PRINTED_MAX = 40

/** The data directories of the clusters that run. */
const directories = new Set<string>()

/** As `startCluster` of the product, in a data directory that is deleted at the end unless it was handed in. */
export async function startCluster(options: StartClusterOptions = {}): Promise<RunningCluster> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'qs-test-')))
  directories.add(dataDir)
  const end = async () => {
    directories.delete(dataDir)
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true })
  }
  try {
    const cluster = await start({ ...options, dataDir })
    const down = () => cluster.down().finally(end)
    return { ...cluster, down, [Symbol.asyncDispose]: down }
  } catch (error) {
    await printLogs()
    await end()
    throw error
  }
}

/** Where a test fails, the logs in this directory are printed, too. */
export function showLogsOf(directory: string): void {
  directories.add(directory)
}

/** The last lines that each process of each running cluster has logged. */
export async function printLogs(): Promise<void> {
  for (const directory of directories) {
    const logs = join(directory, 'logs')
    for (const file of await readdir(logs).catch(() => [])) {
      const lines = (await readFile(join(logs, file), 'utf8')).trimEnd().split('\n')
      process.stdout.write(`\n-- ${file}\n${lines.slice(-LINES_PRINTED_MAX).join('\n')}\n`)
    }
  }
}
