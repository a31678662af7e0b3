import { startRedis, untilTrue } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect, vi } from 'vitest'
import { createConnection } from './connection.ts'
import { assertSettings } from './settings.ts'

const it = base.extend('server', { scope: 'file' }, async ({ fileResources }) =>
  fileResources.opened(
    await startRedis(['--user', 'reader', 'on', 'nopass', '~*', '+get', '+info', '+hello']),
  ),
)

const STEP_MS = 1
/** Longer than any connection of this test, unless the clock is advanced. */
const VERY_LONG_MS = 600_000

it('reconnects with growing pauses to a Redis that accepts and then refuses it', async () => {
  await using replica = await startRedis(['--replicaof', '127.0.0.1', '1'])
  const redis = createConnection(
    { path: replica.socketPath },
    { enableOfflineQueue: false, reconnect: { stepMs: STEP_MS, msMax: VERY_LONG_MS } },
  )
  const pauses: number[] = []
  redis.on('reconnecting', (ms: number) => pauses.push(ms))
  // Like a worker that retries at once.
  await untilTrue('ten refusals', async () => {
    await redis.set('a', '1').catch(() => {})
    return pauses.length >= 10
  })
  redis.disconnect()
  expect(pauses).toEqual(pauses.map((_, index) => (index + 1) * STEP_MS))
})

it('reconnects with the shortest pause after it has worked for a while', async ({ server }) => {
  const redis = createConnection(
    { path: server.socketPath },
    { reconnect: { stepMs: STEP_MS, msMax: VERY_LONG_MS } },
  )
  const pauses: number[] = []
  redis.on('reconnecting', (ms: number) => pauses.push(ms))
  const admin = server.connect()
  let movedMs = 0
  const now = performance.now.bind(performance)
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + movedMs)
  for (const count of [1, 2]) {
    await redis.ping()
    movedMs += VERY_LONG_MS + 1
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await untilTrue('a lost connection', () => pauses.length === count)
  }
  redis.disconnect()
  admin.disconnect()
  spy.mockRestore()
  expect(pauses).toEqual([STEP_MS, STEP_MS])
})

it('a copy has its own count of attempts, and the same address', async ({ server }) => {
  const redis = createConnection({ path: server.socketPath }, { reconnect: null })
  const copy = redis.duplicate({ maxRetriesPerRequest: null })
  expect(await copy.ping()).toBe('PONG')
  expect(copy.options).toMatchObject({ path: server.socketPath, maxRetriesPerRequest: null })
  copy.disconnect()
  redis.disconnect()
})

it('reports settings that the user may not read, and refuses wrong ones that INFO reports', async ({
  server,
}) => {
  const open = async (required: Record<string, string>) => {
    const sentences: string[] = []
    const redis = createConnection(
      { path: server.socketPath, username: 'reader', password: 'any' },
      { reconnect: null },
    )
    const onUnchecked = (sentence: string) => void sentences.push(sentence)
    try {
      await assertSettings(redis, { what: 'this Redis', required, onUnchecked })
    } finally {
      redis.disconnect()
    }
    return sentences
  }
  expect(await open({ 'maxmemory-policy': 'noeviction', appendonly: 'no' })).toEqual([])
  expect(await open({ appendfsync: 'always' })).toEqual([
    'The settings of this Redis cannot be checked: appendfsync must be always.',
  ])
  await expect(open({ appendonly: 'yes' })).rejects.toThrow('appendonly is no; it must be yes')
  const lru = { 'maxmemory-policy': 'allkeys-lru' }
  await expect(open(lru)).rejects.toThrow('maxmemory-policy is noeviction')
})
