/** The budget of memory for the Redis servers of this machine. */
import { totalmem } from 'node:os'
import type { VariableSpec } from '@quorumscan/base'

const MIB = 2 ** 20
/** The other half is for the processes, the engine, and the copy that Redis makes when it rewrites its file. */
const MACHINE_SHARE = 0.5
/** An empty replica, its newest groups, its job queues, and a reserve. */
const BUDGET_MIB_MIN = 64
const BUDGET_MIB_MAX = 1_048_576

export const REDIS_MEMORY_VARIABLE = 'QS_REDIS_MEMORY_MIB'

export const REDIS_MEMORY_SPEC = {
  about:
    'memory for the Redis that is started here, its `maxmemory`, in MiB; without it half of the memory of the machine, or of the limit of its cgroup. `quorumscan up` divides it among the Redis servers of the cluster',
  example: '4096',
  read(text) {
    const mib = Number(text)
    if (/^[0-9]{1,7}$/.test(text) && mib >= BUDGET_MIB_MIN && mib <= BUDGET_MIB_MAX) return text
    throw new Error(
      `it must be an integer from ${BUDGET_MIB_MIN} to ${BUDGET_MIB_MAX}, in MiB, not ${JSON.stringify(text)}`,
    )
  },
} as const satisfies VariableSpec

/** The memory of the machine, or the limit of the cgroup of this process if that is less. */
export function machineMemoryBytes(): number {
  // 0 or more than the machine has: no limit.
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** The budget in bytes. @param text - Of `REDIS_MEMORY_VARIABLE`; empty or undefined: the default. */
export function redisMemoryBudget(text: string | undefined): number {
  return text
    ? Number(REDIS_MEMORY_SPEC.read(text)) * MIB
    : Math.floor(machineMemoryBytes() * MACHINE_SHARE)
}
