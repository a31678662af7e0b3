/** The Redis of one operator, to read or fill it, whether its processes run or not. */
import { type Clock, openAll } from '@quorumscan/base'
import { LOG_USER } from '@quorumscan/log'
import { readRedisAddress } from '@quorumscan/redis'
import { CommandError } from '@quorumscan/runtime'
import {
  endLeftovers,
  existingSocketDirectory,
  isRedisReady,
  makeSocketDirectory,
  type RedisService,
  removeSocketDirectory,
  ServiceRunner,
} from '@quorumscan/supervisor'
import type { DataDirectory } from '../data-directory.ts'
import { acquireLock } from './directory-lock.ts'
import { externalRedisOf, type OwnNode, planOwnRedis } from './operator-services.ts'

/**
 * The Redis that the operator's file names, or the one that runs. If neither exists, starts one as `run` plans it, and
 * stops it in order when disposed of, so that all is on disk then.
 *
 * @throws {CommandError} If it runs and does not answer, or does not start.
 */
export async function openOwnRedis(node: OwnNode) {
  const { config, clock } = node
  const { directory } = config
  return openAll(async (resources) => {
    const external = externalRedisOf(config)
    if (external !== null) return { redis: await readRedisAddress(external, LOG_USER) }
    const sockets = existingSocketDirectory(directory)
    const running = sockets === null ? null : planOwnRedis(node, sockets).redisAddress
    if (running !== null && (await isRedisReady(running))) return { redis: running }
    const { socketDirectory } = resources.opened(await lockDirectory(directory, clock))
    const service = planOwnRedis(node, socketDirectory)
    const runner = resources.opened(redisRunner([service], { directory, clock }))
    await runner.startRedis(service).catch((cause: unknown) => {
      throw new CommandError(`the Redis in ${service.redisDirectory} does not start`, { cause })
    })
    return { redis: service.redisAddress }
  })
}

/** Starts these Redis. Stops them when it is disposed of. */
export function redisRunner(
  services: readonly RedisService[],
  { directory, clock }: { readonly directory: DataDirectory; readonly clock: Clock },
) {
  const options = { ...directory.processes, services: [], clock, isCluster: false }
  const runner = new ServiceRunner(options)
  return Object.assign(runner, {
    async [Symbol.asyncDispose]() {
      for (const { redis } of services) await runner.stop(redis.id)
      await runner.stopAll()
    },
  })
}

/**
 * Locks the data directory until it is disposed of, so that no other command starts processes there. Ends processes
 * that a crash left running there.
 *
 * @throws {CommandError} If another process runs the processes of the directory.
 */
export async function lockDirectory(directory: DataDirectory, clock: Clock) {
  return openAll(async (resources) => {
    resources.opened(await acquireLock(directory, clock))
    const endedCount = await endLeftovers({ ...directory.processes, clock })
    removeSocketDirectory(directory)
    const socketDirectory = makeSocketDirectory(directory)
    resources.onClose(() => removeSocketDirectory(directory))
    return { socketDirectory, endedCount }
  })
}
