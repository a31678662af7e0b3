/** Resource usage of all processes of a cluster, including their child processes. Linux only. */
import { readdir, readFile } from 'node:fs/promises'

/** Unit of processor time in `/proc`. */
const TICKS_PER_SECOND = 100
const KIB_PER_MIB = 1024

export type Usage = {
  /** Processor time of all processes since their start. */
  readonly cpuSeconds: number
  readonly memoryMib: number
  readonly processCount: number
}

/** Usage of the descendants of this process, which started the cluster. */
export async function usageOfCluster(): Promise<Usage> {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name)).map(Number)
  const all = (await Promise.all(pids.map(read))).flatMap((one) => one ?? [])
  const cluster = new Set([process.pid])
  // Children usually have higher pids than their parents, except if pids have wrapped around.
  for (let before = 0; before < cluster.size; ) {
    before = cluster.size
    for (const { pid, parent } of all) if (cluster.has(parent)) cluster.add(pid)
  }
  const own = all.filter(({ pid }) => pid !== process.pid && cluster.has(pid))
  return {
    cpuSeconds: own.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    memoryMib: own.reduce((sum, { memoryMib }) => sum + memoryMib, 0),
    processCount: own.length,
  }
}

/** Null if it has ended. */
async function read(pid: number) {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The process name is in parentheses, and may contain any character.
    const [, parent, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [user = 0, system = 0] = fields.slice(9, 11).map(Number)
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
    const pssKib = Number(/^Pss: +([0-9]+) kB$/m.exec(rollup)?.[1] ?? 0)
    return {
      pid,
      parent: Number(parent),
      cpuSeconds: (user + system) / TICKS_PER_SECOND,
      memoryMib: pssKib / KIB_PER_MIB,
    }
  } catch {
    return null
  }
}
