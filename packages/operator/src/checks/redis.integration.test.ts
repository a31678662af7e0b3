/** A Redis that cannot be reached, refuses the user, or has other settings. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { required } from '@quorumscan/testkit'
import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { dataDirectory } from '../data-directory.ts'
import { checkRedis } from './machine.ts'

const check = (runs: 'sv' | 'validator', variables: object, redisServer = required('redis')) =>
  checkRedis(
    { runs, directory: dataDirectory('/nowhere'), variables: { ...variables } },
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
  const secret = join(directory, 'secret')
  writeFileSync(secret, 'unknown')
  const login = { QS_REDIS_USER_FILE: secret, QS_REDIS_PASSWORD_FILE: secret }
  expect(await check('sv', { ...own, ...login })).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('WRONGPASS'),
  })
  expect(await check('sv', { QS_REDIS: 'unix:///nowhere/redis' })).toMatchObject({
    state: 'warning',
    detail: expect.stringContaining('it does not answer'),
  })
})
