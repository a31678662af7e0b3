/** The job queues of one operator's node, whether its processes run or not. */
import type { Clock } from '@quorumscan/base'
import { openNodeQueues } from '@quorumscan/jobs'
import { openOwnRedis } from './backup/own-redis.ts'
import type { OperatorConfig } from './run/operator-config.ts'
import { externalRedisOf, operatorRedisPlan } from './run/operator-services.ts'

/** @throws {CommandError} If its Redis runs and does not answer, or does not start. */
export async function openOperatorQueues(options: {
  readonly config: OperatorConfig
  readonly redisServer: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}): ReturnType<typeof openNodeQueues> {
  const { config, clock } = options
  const own = await openOwnRedis({
    ...{ directory: config.directory, external: externalRedisOf(config), clock },
    plan: operatorRedisPlan(options),
  })
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
