/** @module-tag rest */
import { startRedis, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import {
  problemOfMemory,
  refuseOverfull,
  storedMemoryBytes,
  usedMemoryIn,
} from './stored-memory.ts'

const MIB = 2 ** 20

it('the file of a Redis says what memory it used, and one that holds more than its budget is refused', async () => {
  await using redis = await startRedis(['--appendonly', 'yes', '--maxmemory', '512mb'])
  const client = redis.connect()
  for (let index = 0; index < 100; index++) await client.set(`key ${index}`, 'x'.repeat(MIB))
  // Redis may be rewriting its file by itself.
  const isIdle = async () =>
    /aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/.test(await client.info('persistence'))
  await untilTrue('the file to be rewritten', isIdle)
  await client.call('BGREWRITEAOF')
  await untilTrue('the file to be rewritten again', isIdle)
  const stored = await storedMemoryBytes(redis.directory)
  expect(stored).toBeGreaterThan(100 * MIB)
  expect(stored).toBeLessThan(150 * MIB)
  const service = {
    isExternal: false,
    redisAddress: { path: redis.socketPath },
  } as Parameters<typeof refuseOverfull>[0]
  await refuseOverfull(service, { QS_REDIS_MEMORY_MIB: '64' })
  await client.config('SET', 'maxmemory', '64mb')
  await expect(refuseOverfull(service, { QS_REDIS_MEMORY_MIB: '64' })).rejects.toThrow(
    /^everything was stopped: QS_REDIS_MEMORY_MIB allows 64 MiB, but its Redis holds 1\d\d MiB: .*Set QS_REDIS_MEMORY_MIB to 1\d\d or more, and run again$/,
  )
  client.disconnect()
})

it('what fits is no problem, and what does not names the variable and a number', () => {
  expect(problemOfMemory(64 * MIB, { QS_REDIS_MEMORY_MIB: '64' })).toBeNull()
  expect(problemOfMemory(64 * MIB + 1, { QS_REDIS_MEMORY_MIB: '64' })).toBe(
    'QS_REDIS_MEMORY_MIB allows 64 MiB, but its Redis holds 65 MiB: it would refuse all writes, and the replica would stall. Set QS_REDIS_MEMORY_MIB to 86 or more',
  )
  expect(problemOfMemory(2 ** 50, {})).toMatch(/^QS_REDIS_MEMORY_MIB is not set, and half of /)
})

it('a file of another form says nothing', async () => {
  expect(await storedMemoryBytes('/nowhere')).toBeNull()
  for (const text of ['', 'used-mem', 'used-mem\xc2\x01', 'used-mem\x05abcde', 'used-mem\xff1'])
    expect(usedMemoryIn(Buffer.from(text, 'latin1'))).toBeNull()
  expect(usedMemoryIn(Buffer.from('used-mem\xc2\x01\x02\x00\x00', 'latin1'))).toBe(513)
  expect(usedMemoryIn(Buffer.from('used-mem\x0a5000000000', 'latin1'))).toBe(5e9)
})
