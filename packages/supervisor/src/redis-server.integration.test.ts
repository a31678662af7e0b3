import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { required } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { assertRedisUsable } from './redis-server.ts'

const it = base.extend('commandThatPrints', ({ directory }) => (text: string) => {
  const command = join(directory, 'redis-server')
  writeFileSync(command, `#!/bin/sh\necho '${text}'\n`)
  chmodSync(command, 0o700)
  return command
})

it('accepts a Redis that is new enough, and refuses others with a reason', async ({
  commandThatPrints,
  directory,
}) => {
  await assertRedisUsable(required('redis'))
  await assertRedisUsable(commandThatPrints('Redis server v=7.0.15 sha=00000000:0 malloc=libc'))
  await assertRedisUsable(commandThatPrints('Valkey server v=8.1.1 sha=00000000:0 malloc=libc'))
  await expect(
    assertRedisUsable(commandThatPrints('Redis server v=6.2.14 sha=00000000:0')),
  ).rejects.toThrow(
    /is Redis 6\.2\.14; install Redis 7\.0 or newer, or Valkey, or set REDIS_SERVER/,
  )
  await expect(assertRedisUsable(commandThatPrints('hello'))).rejects.toThrow(
    'is no server of Redis or Valkey',
  )
  await expect(assertRedisUsable(join(directory, 'none'))).rejects.toThrow(/cannot be run; install/)
})
