/** The pid of a cluster's control plane, from the cluster's data directory. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningCluster } from 'quorumscan/testing'

export function controlPid({ dataDir }: Pick<RunningCluster, 'dataDir'>): number {
  const file = JSON.parse(readFileSync(join(dataDir, 'control.json'), 'utf8'))
  return (file as { content: { process: { pid: number } } }).content.process.pid
}
