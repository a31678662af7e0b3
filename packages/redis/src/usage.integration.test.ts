import { startRedis, until } from '@quorumscan/testkit'
import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { watchRedis } from './usage.ts'

it('reports the usage of a Redis, also after a restart, and fails while it is down', async () => {
  await using server = await startRedis(['--appendonly', 'yes', '--maxmemory', '64mb'])
  await using watch = watchRedis({ path: server.socketPath })
  const usage = () => until('an answer', () => watch.usage().catch(() => undefined))
  const before = await usage()
  expect(before).toMatchObject({ directory: server.directory, memoryBytesMax: 64 * 1024 * 1024 })
  const client = server.connect()
  await client.set('key', 'x'.repeat(1_000_000))
  client.disconnect()
  const after = await usage()
  expect(after.fileBytes - before.fileBytes).toBeGreaterThan(1_000_000)
  expect(after.memoryBytes - before.memoryBytes).toBeGreaterThan(1_000_000)
  await server.kill()
  await expect(watch.usage()).rejects.toThrow()
  await server.restart()
  expect((await usage()).fileBytes).toBeGreaterThan(1_000_000)
})

it('reports 0 without a limit and without a file', async ({ redis: server, resources }) => {
  const admin = server.connect()
  await admin.config('SET', 'maxmemory', '0')
  resources.onClose(async () => {
    await admin.config('SET', 'maxmemory', '512mb')
    admin.disconnect()
  })
  await using watch = watchRedis({ path: server.socketPath })
  expect(await until('an answer', () => watch.usage().catch(() => undefined))).toMatchObject({
    memoryBytesMax: 0,
    fileBytes: 0,
  })
})
