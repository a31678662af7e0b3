import { startRedis } from '@quorumscan/testkit'
import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { readStore, type StorePart, writeStore } from './backup.ts'
import { KEYS } from './connection.ts'
import { openValidatorStore } from './store.ts'

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always']
const genesisHash = 'ab'.repeat(32)
const party = `alice::1220${'0'.repeat(64)}`
const USERS = 2_500

async function fill(path: string): Promise<void> {
  await using store = await openValidatorStore({ redis: { path }, genesisHash })
  const user = { isDeactivated: false, metadata: { 'a/b': 'ü' }, identityProviderId: '' }
  for (let index = 0; index < USERS; index++)
    await store.users.insert({
      user: { id: `user-${index}`, primaryParty: party, ...user },
      rights: [{ kind: 'CanActAs', party }],
    })
  await store.users.insert({ user: { id: 'gone', primaryParty: null, ...user }, rights: [] })
  await store.users.delete('gone')
  await store.parties.claim(party, 'user-1')
  await store.parties.update(party, (current) => ({ ...current, annotations: { note: 'x' } }))
  await store.autoRenewals.set(`00${'cd'.repeat(32)}`, { party, user: 'alice' })
  await store.identity.save('a key')
  await store.addresses.save('[]')
  await store.evidence.save('{}')
  store.floor.save(7)
  const payment = { changeId: 'ef'.repeat(32), userId: 'user-1', content: '', updateId: '' }
  await store.payments.record(
    [{ ...payment, offset: 1, recordTime: 1, result: {}, keptUntil: 5 }],
    { offset: 1, recordTime: 1, incompleteUntil: 0 },
  )
  const completion = { userId: 'user-1', actAs: [party], commandId: 'c', submissionId: '' }
  const pending = {
    changeId: '22',
    bytes: 'AA==',
    notBefore: 0,
    notAfter: 9,
    head: 3,
    completion: { ...completion, deduplication: { kind: 'duration' as const, micros: 0 } },
  }
  await store.outbox.add({ ...pending, entryHash: '11' })
  await store.outbox.add({ ...pending, entryHash: '33', changeId: '44' })
  await store.outbox.complete(
    { ...pending, entryHash: '33', changeId: '44' },
    {
      offset: 5,
      recordTime: 6,
      entryHash: '33',
      completion: pending.completion,
      outcome: { kind: 'rejected', code: 'NOT_SEQUENCED_TIMEOUT', message: 'late' },
    },
  )
}

async function* each(parts: readonly StorePart[]): AsyncGenerator<StorePart> {
  yield* parts
}

it('the whole store is restored in another Redis, which is killed after the write', async ({
  durableRedis: one,
}) => {
  await using other = await startRedis(DURABLE)
  await fill(one.socketPath)
  const parts = await readStore({ path: one.socketPath })
  expect(new Set(parts.map(({ key }) => key))).toEqual(new Set(Object.values(KEYS)))
  // The records are in several small parts.
  expect(parts.filter(({ key }) => key === KEYS.records)).toHaveLength(3)

  await writeStore({ path: other.socketPath }, each(parts))
  await other.kill()
  await other.restart()
  expect(await readStore({ path: other.socketPath })).toEqual(parts)
  await using store = await openValidatorStore({
    redis: { path: other.socketPath },
    genesisHash,
  })
  expect(await store.users.list({ after: 'user-999', limit: 5 })).toEqual([])
  expect((await store.users.get('user-42'))?.rights).toEqual([{ kind: 'CanActAs', party }])
  expect(await store.outbox.list()).toMatchObject([{ entryHash: '11' }])
  expect(await store.outbox.expired({ after: 0, upTo: 9, limit: 5 })).toHaveLength(1)
  expect(await store.floor.load()).toBe(7)
  await store.payments.forget(6)
  expect(await store.payments.count('user-1')).toBe(0)

  await expect(writeStore({ path: other.socketPath }, each(parts))).rejects.toThrow(
    'holds users already',
  )
})

it('a backup with another key is refused', async ({ durableRedis: redis }) => {
  const stray = { key: '{replica}:names', items: [['AA==', 'AA==']] } satisfies StorePart
  await expect(writeStore({ path: redis.socketPath }, each([stray]))).rejects.toThrow(
    'the unknown key {replica}:names',
  )
})
