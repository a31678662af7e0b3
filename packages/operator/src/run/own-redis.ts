/** The Redis of one operator, to read or fill it, whether its processes run or not. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Clock, waitFor } from '@quorumscan/base'
import { LOG_USER } from '@quorumscan/log'
import { type RedisAddress, readRedisAddress } from '@quorumscan/redis'
import { CommandError, makePrivateDirectory, writeFileUnlessEqual } from '@quorumscan/runtime'
import type { RedisService } from '@quorumscan/supervisor'
import {
  endLeftovers,
  isRedisReady,
  keptSocketDirectory,
  makeSocketDirectory,
  removeSocketDirectory,
} from '@quorumscan/supervisor'
import type { DataDirectory } from '../data-directory.ts'
import { externalRedisOf, type OwnNode, operatorRedisPlan } from './operator-services.ts'
import { takeOver } from './take-over.ts'

/** Reading a file of 10 GiB through takes a minute. */
const START_TIMEOUT_MS = 120_000
const LOOK_MS = 50

/**
 * The Redis that the operator's file names; else that which runs; else one that is started for this, as `run` plans it, and
 * is stopped in order when disposed of: all is on disk then.
 *
 * @throws {CommandError} If it runs and does not answer, or does not start.
 */
export async function openOwnRedis(
  node: OwnNode,
): Promise<AsyncDisposable & { readonly redis: RedisAddress }> {
  const { config, clock } = node
  const { directory } = config
  const plan = operatorRedisPlan(node)
  const external = externalRedisOf(config)
  if (external !== null)
    return { redis: await readRedisAddress(external, LOG_USER), async [Symbol.asyncDispose]() {} }
  const kept = keptSocketDirectory(directory)
  if (kept !== null) {
    const service = plan(kept)
    if (await isRedisReady(service.redisAddress))
      return { redis: service.redisAddress, async [Symbol.asyncDispose]() {} }
  }
  const held = await holdDirectory(directory, clock)
  try {
    const service = plan(held.socketDirectory)
    const redis = await startRedis(service, clock)
    return {
      redis: service.redisAddress,
      async [Symbol.asyncDispose]() {
        await redis[Symbol.asyncDispose]()
        await held[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await held[Symbol.asyncDispose]()
    throw error
  }
}

/**
 * Until it is disposed of nobody starts anything there.
 *
 * @throws {CommandError} If what is there runs.
 */
export async function holdDirectory(
  directory: DataDirectory,
  clock: Clock,
): Promise<AsyncDisposable & { readonly socketDirectory: string }> {
  const taken = await takeOver(directory, clock)
  await endLeftovers({ ...directory.processes, clock })
  removeSocketDirectory(directory)
  return {
    socketDirectory: makeSocketDirectory(directory),
    async [Symbol.asyncDispose]() {
      removeSocketDirectory(directory)
      await taken[Symbol.asyncDispose]()
    },
  }
}

async function startRedis(service: RedisService, clock: Clock): Promise<AsyncDisposable> {
  const { command, args, env } = service.redis
  makePrivateDirectory(service.redisDirectory)
  writeFileUnlessEqual(service.redisConfig.file, service.redisConfig.text)
  const redis = spawn(command, args, { stdio: 'ignore', env: env as NodeJS.ProcessEnv })
  const ended = once(redis, 'exit').catch(() => {}) // It could not be started: the wait below says so.
  const running = {
    async [Symbol.asyncDispose]() {
      redis.kill('SIGTERM')
      await ended
    },
  }
  const isReady = async () => {
    if (redis.exitCode !== null || redis.pid === undefined)
      throw new CommandError(`the Redis in ${service.redisDirectory} does not start`)
    return (await isRedisReady(service.redisAddress)) ? true : undefined
  }
  try {
    const what = `the Redis in ${service.redisDirectory}`
    await waitFor(isReady, { clock, timeoutMs: START_TIMEOUT_MS, intervalMs: LOOK_MS, what })
    return running
  } catch (error) {
    await running[Symbol.asyncDispose]()
    throw error
  }
}
