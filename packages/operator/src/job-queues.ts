/** The job queues of one operator's node, whether its processes run or not. */
import { openNodeQueues } from '@quorumscan/jobs'
import type { OwnNode } from './run/operator-services.ts'
import { openOwnRedis } from './run/own-redis.ts'

/** @throws {CommandError} If its Redis runs and does not answer, or does not start. */
export async function openOperatorQueues(node: OwnNode): ReturnType<typeof openNodeQueues> {
  const { config, clock } = node
  const own = await openOwnRedis(node)
  try {
    const kind = config.runs === 'validator' ? 'validator' : 'scan'
    const queues = await openNodeQueues({ redis: own.redis, kind, clock })
    return {
      ...queues,
      async [Symbol.asyncDispose]() {
        await queues[Symbol.asyncDispose]()
        await own[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await own[Symbol.asyncDispose]()
    throw error
  }
}
