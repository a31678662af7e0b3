/** A Redis that cannot be reached, refuses the user, or has other settings. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { listen, required } from '@quorumscan/testkit'
import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { dataDirectory } from '../data-directory.ts'
import { checkRedis } from './machine.ts'

const check = (runs: 'sv' | 'validator', variables: object, redisServer = required('redis')) =>
  checkRedis(
    { runs, name: 'sv-1', directory: dataDirectory('/nowhere'), variables: { ...variables } },
    { redisServer, clock: createSystemClock() },
  )

it('needs a program that can be started', async () => {
  expect(await check('sv', {})).toMatchObject({ state: 'ok' })
  expect(await check('sv', {}, '/nowhere/redis-server')).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('install Redis 7'),
  })
})

it('needs a Redis with the settings of its role', async ({ redis, durableRedis, directory }) => {
  const own = { QS_REDIS: `unix://${redis.socketPath}` }
  expect(await check('sv', own)).toMatchObject({ state: 'ok' })
  expect(await check('validator', own)).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('appendonly is no; it must be yes'),
  })
  const durable = { QS_REDIS: `unix://${durableRedis.socketPath}` }
  expect(await check('validator', durable)).toMatchObject({ state: 'ok' })
  const withPassword = durableRedis.connect()
  await withPassword.config('SET', 'requirepass', 'known')
  expect(await check('validator', durable)).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(
      /^QS_REDIS_PASSWORD_FILE is not set: it asks for a password \(NOAUTH/,
    ),
  })
  await withPassword.config('SET', 'requirepass', '')
  withPassword.disconnect()
  const secret = join(directory, 'secret')
  writeFileSync(secret, 'unknown')
  const login = { QS_REDIS_USER_FILE: secret, QS_REDIS_PASSWORD_FILE: secret }
  expect(await check('sv', { ...own, ...login })).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(/^QS_REDIS_PASSWORD_FILE=\/.*: it refuses .* \(WRONGPASS/),
  })
  expect(await check('sv', { QS_REDIS: 'unix:///nowhere/redis' })).toMatchObject({
    state: 'warning',
    detail: expect.stringMatching(
      /^QS_REDIS=unix:\/\/\/nowhere\/redis: it does not answer: .*ENOENT/,
    ),
  })
})

it('names its variable where a Redis takes no writes, evicts what it stores, or has no limit', async ({
  redis,
  durableRedis,
  resources,
}) => {
  const variables = { QS_REDIS: `unix://${redis.socketPath}` }
  const found = () => check('sv', variables)
  const admin = redis.connect()
  resources.onClose(async () => {
    await admin.config('SET', 'maxmemory-policy', 'noeviction')
    await admin.call('REPLICAOF', 'NO', 'ONE')
    admin.disconnect()
  })
  await admin.config('SET', 'maxmemory-policy', 'allkeys-lru')
  expect(await found()).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(
      /^QS_REDIS=unix:.*: .*maxmemory-policy is allkeys-lru; it must be noeviction/,
    ),
  })
  await admin.config('SET', 'maxmemory-policy', 'noeviction')
  await admin.config('SET', 'maxmemory', '0')
  expect(await found()).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(/^QS_REDIS=unix:.*: .*maxmemory is 0; it must be 1 or more/),
  })
  await admin.config('SET', 'maxmemory', '512mb')
  expect(await found()).toMatchObject({ state: 'ok' })
  await admin.call('REPLICAOF', '127.0.0.1', '1')
  expect(await found()).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(
      /^QS_REDIS=unix:.*: .*it is a read-only replica of 127.0.0.1:1; name the primary/,
    ),
  })
  const validator = { QS_REDIS: `unix://${durableRedis.socketPath}` }
  expect(await check('validator', validator)).toMatchObject({ state: 'ok' })
})

it('an old Redis is named with its version', async () => {
  await using server = await listen((socket) => {
    socket.on('data', (bytes) => {
      // The handshake of ioredis, PING and INFO, in any portions.
      for (const [command] of String(bytes).matchAll(/\b(?:ping|info|client|hello)\b/gi))
        socket.write(
          command.toLowerCase() === 'info'
            ? '$47\r\n# Server\r\nredis_version:6.2.14\r\nrole:master\r\n\r\n\r\n\r\n'
            : '+PONG\r\n',
        )
    })
  })
  const { port } = new URL(server.url)
  expect(await check('sv', { QS_REDIS: `redis://127.0.0.1:${port}` })).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('it is Redis 6.2.14; it must be 7.0'),
  })
})
