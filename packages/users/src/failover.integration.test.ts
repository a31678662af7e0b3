/**
 * A store with real sentinels and Redis servers; the primary is killed.
 *
 * @module-tag rest
 */
import { startSentinels, until, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { openValidatorStore } from './store.ts'

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always']
const genesisHash = 'ab'.repeat(32)

const record = (id: string) => ({
  user: { id, primaryParty: null, isDeactivated: false, metadata: {}, identityProviderId: '' },
  rights: [],
})

it('keeps acknowledged writes, and acknowledges none that only one Redis has', async () => {
  await using redis = await startSentinels(DURABLE)
  await using store = await openValidatorStore({ redis: redis.address, genesisHash })
  expect(await store.users.insert(record('alice'))).toBe(true)
  await redis.cutReplica()
  const alone = {
    code: 'DEPENDENCY_UNAVAILABLE',
    message: expect.stringContaining('No Redis replica'),
  }
  await expect(store.users.insert(record('bob'))).rejects.toMatchObject(alone)
  await expect(store.users.delete('alice')).rejects.toMatchObject(alone)
  await expect(store.identity.save('a key')).rejects.toMatchObject(alone)

  await redis.failOver()
  const found = await until('the promoted one', () =>
    store.users.get('alice').catch(() => undefined),
  )
  expect(found).toEqual(record('alice'))
  expect(await store.users.get('bob')).toBeNull()
})

it('refuses to write to a promoted Redis without appendfsync always', async () => {
  await using redis = await startSentinels(DURABLE)
  const client = redis.replica.connect()
  await client.config('SET', 'appendfsync', 'everysec')
  client.disconnect()
  await using store = await openValidatorStore({ redis: redis.address, genesisHash })
  await redis.failOver()
  await untilTrue('the promoted one', () =>
    store.users.get('alice').then(
      () => true,
      () => false,
    ),
  )
  await expect(store.users.insert(record('alice'))).rejects.toThrow(
    'appendfsync is everysec; it must be always',
  )
})
