/** The job queues of one operator's node, whether its processes run or not. */
import { openAll } from '@quorumscan/base'
import { openProcessQueues } from '@quorumscan/jobs'
import type { OwnNode } from './run/operator-services.ts'
import { openOwnRedis } from './run/own-redis.ts'

/** @throws {CommandError} If its Redis runs and does not answer, or does not start. */
export async function openOperatorQueues(node: OwnNode): ReturnType<typeof openProcessQueues> {
  return openAll(async (resources) => {
    const { redis } = resources.opened(await openOwnRedis(node))
    const kind = node.config.runs === 'validator' ? 'validator' : 'scan'
    return { ...resources.opened(await openProcessQueues({ redis, kind, clock: node.clock })) }
  })
}
