/** The job queues of one node, and the renewals that it does not run, whether its processes run or not. */
import { openAll } from '@quorumscan/base'
import { openProcessQueues, type ProcessJobs } from '@quorumscan/jobs'
import { findPausedRenewals, type PausedRenewals } from './paused-renewals.ts'
import type { OwnNode } from './run/operator-services.ts'
import { openOwnRedis } from './run/own-redis.ts'

export type NodeJobs = ProcessJobs & {
  /** Null: the node has no users. */
  readonly pausedRenewals: PausedRenewals | null
}

/** @throws {ScanError} DEPENDENCY_UNAVAILABLE if Redis does not answer. */
export async function openNodeQueues(options: Parameters<typeof openProcessQueues>[0]) {
  const { redis, kind } = options
  const queues = await openProcessQueues(options)
  return {
    ...queues,
    async list(): Promise<NodeJobs> {
      const pausedRenewals = kind === 'validator' ? await findPausedRenewals(redis) : null
      return { ...(await queues.list()), pausedRenewals }
    },
  }
}

/** @throws {CommandError} If its Redis runs and does not answer, or does not start. */
export async function openOperatorQueues(node: OwnNode): ReturnType<typeof openNodeQueues> {
  return openAll(async (resources) => {
    const { redis } = resources.opened(await openOwnRedis(node))
    const kind = node.config.runs === 'validator' ? 'validator' : 'scan'
    return { ...resources.opened(await openNodeQueues({ redis, kind, clock: node.clock })) }
  })
}
