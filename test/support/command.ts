/** The `quorumscan` command as a child process. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { RunningCluster } from 'quorumscan/testing'
import { ROOT } from './root.ts'

export type Exit = {
  readonly code: number
  /** The result. With `--json` it is only JSON. */
  readonly stdout: string
  /** The result and, if the command failed, its messages. */
  readonly text: string
}

/** Runs a command on the cluster's data directory. */
export async function runCommand(
  cluster: RunningCluster,
  ...args: readonly string[]
): Promise<Exit> {
  const bin = join(ROOT, 'cluster/bin/quorumscan.mjs')
  const command = [bin, ...args, '--data-dir', cluster.dataDir]
  try {
    const { stdout } = await promisify(execFile)(process.execPath, command)
    return { code: 0, stdout, text: stdout }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, text: stdout + stderr }
  }
}
