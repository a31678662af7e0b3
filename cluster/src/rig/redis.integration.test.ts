import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { LOG_RULES } from '@quorumscan/log'
import { redisConfig } from '@quorumscan/operator'
import { deleteReplicaAt } from '@quorumscan/operator/run'
import { isRedisReady, Supervisor } from '@quorumscan/supervisor'
import { createDirectory, required, startRedis, untilTrue } from '@quorumscan/testkit'
import { Redis } from 'ioredis'
import { expect, it } from 'vitest'

// Real processes take their time on a machine that does other things, too.
const clock = createSystemClock()

async function startLogRedis() {
  // With spaces and quotes, as real directories may have.
  const { path: directory, ...temporary } = createDirectory('"r" ')
  const socketPath = join(directory, 's')
  await writeFile(
    join(directory, 'redis.conf'),
    redisConfig({
      socketPath,
      directory,
      fsync: 'always',
      memoryBytes: 64 * 2 ** 20,
      user: { name: 'writer', password: 'aa11', rules: LOG_RULES },
    }),
  )
  const supervisor = new Supervisor({ recordFile: join(directory, 'p'), marker: directory, clock })
  await supervisor.start({
    id: 'redis',
    command: required('redis'),
    args: [join(directory, 'redis.conf')],
    env: process.env,
    logFile: join(directory, 'log'),
  })
  const address = { path: socketPath, username: 'writer', password: 'aa11' }
  await untilTrue('Redis', () => isRedisReady(address))
  return {
    address,
    supervisor,
    connect: (username: string, password: string) =>
      new Redis({ path: socketPath, username, password, retryStrategy: null }),
    [Symbol.asyncDispose]: async () => {
      await supervisor.kill('redis')
      await chmod(directory, 0o700)
      temporary[Symbol.dispose]()
    },
  }
}

it('lets only the synchronizer append to the log and read it', async () => {
  await using log = await startLogRedis()
  const writer = log.connect('writer', 'aa11')
  try {
    await writer.xadd('log', '1-0', 'g', 'bytes')
    expect(await writer.xrange('log', '-', '+')).toEqual([['1-0', ['g', 'bytes']]])
    await expect(writer.del('log')).rejects.toThrow('NOPERM')
    expect(await writer.config('GET', 'appendfsync')).toEqual(['appendfsync', 'always'])
  } finally {
    writer.disconnect()
  }
  expect(await isRedisReady({ path: log.address.path })).toBe(false)
})

it('treats a paused Redis as not ready, without a long wait', async () => {
  await using log = await startLogRedis()
  const { address } = log
  expect(await isRedisReady(address)).toBe(true)
  await log.supervisor.pause('redis')
  expect(await isRedisReady(address)).toBe(false)
  expect(await isRedisReady({ ...address, path: '/nowhere/s' })).toBe(false)
})

it('deletes a replica, and keeps the users in the same Redis', async () => {
  await using server = await startRedis()
  const redis = server.connect()
  try {
    await redis.hset('{users}:records', 'alice', '{}')
    for (let index = 0; index < 2500; index++) redis.set(`{replica}:k${index}`, '').catch(() => {})
    await redis.hset('{replica}:names', 'a', 'b')
    expect(await deleteReplicaAt({ path: server.socketPath })).toBe(2501)
    expect(await redis.keys('*')).toEqual(['{users}:records'])
  } finally {
    redis.disconnect()
  }
})
