import type { User } from '@quorumscan/model'
import { startRedis, until } from '@quorumscan/testkit'
import { itWithRedis as it } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import { PENDING_MAX, type PendingSubmission } from './outbox.ts'
import { openValidatorStore } from './store.ts'
import { mergeRights, RIGHTS_PER_USER_MAX, withoutRights } from './users.ts'

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always']
const genesisHash = 'ab'.repeat(32)
const party = (hint: string) => `${hint}::1220${'0'.repeat(64)}`

function user(id: string): User {
  return {
    id,
    primaryParty: null,
    isDeactivated: false,
    metadata: {},
    identityProviderId: '',
  }
}

describe('openValidatorStore', () => {
  it.each([
    [['--appendonly', 'no'], 'appendonly is no'],
    [['--appendonly', 'yes', '--appendfsync', 'everysec'], 'appendfsync is everysec'],
    [[...DURABLE, '--maxmemory-policy', 'allkeys-lru'], 'maxmemory-policy is allkeys-lru'],
  ])(
    'does not open on a Redis with %j, which could lose what it acknowledged',
    async (args, text) => {
      await using redis = await startRedis(args)
      await expect(
        openValidatorStore({ redis: { path: redis.socketPath }, genesisHash }),
      ).rejects.toThrow(text)
    },
  )

  it('reports when Redis is down, and works again when it is back', async () => {
    await using redis = await startRedis(DURABLE)
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    await store.users.insert({ user: user('alice'), rights: [] })
    await redis.kill()
    await expect(store.users.get('alice')).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' })
    await redis.restart()
    const found = await until('the store to be back', () =>
      store.users.get('alice').catch(() => undefined),
    )
    expect(found).toMatchObject({ user: { id: 'alice' } })
  })
})

describe('users', () => {
  it('are counted, and take as much memory as Redis says', async () => {
    await using redis = await startRedis(DURABLE)
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    const { users } = store
    expect([await users.count(), await users.bytes()]).toEqual([0, 0])
    for (let index = 0; index < 200; index++)
      await users.insert({
        user: { ...user(`user-${index}`), metadata: { note: 'x'.repeat(1_000) } },
        rights: [],
      })
    expect(await users.count()).toBe(200)
    const bytesEach = (await users.bytes()) / 200
    expect(bytesEach).toBeGreaterThan(1_000)
    expect(bytesEach).toBeLessThan(3_000)
  })

  it('are stored after the server was killed right after the acknowledgement', async () => {
    await using redis = await startRedis(DURABLE)
    const record = {
      user: { ...user('alice'), primaryParty: party('alice'), metadata: { 'a/b': 'ü' } },
      rights: [{ kind: 'CanActAs' as const, party: party('alice') }],
    }
    {
      await using store = await openValidatorStore({
        redis: { path: redis.socketPath },
        genesisHash,
      })
      await store.users.insert(record)
      await redis.kill()
    }
    await redis.restart()
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    expect(await store.users.get('alice')).toEqual(record)
    expect(await store.users.get('bob')).toBeNull()
  })

  it('are inserted once, and an update of an unknown user changes nothing', async ({
    durableRedis: redis,
  }) => {
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    const inserted = await Promise.all(
      [party('a'), party('b'), null].map((primaryParty) =>
        store.users.insert({ user: { ...user('alice'), primaryParty }, rights: [] }),
      ),
    )
    expect(inserted.filter(Boolean)).toHaveLength(1)
    expect(await store.users.update('bob', (record) => record)).toBeNull()
    expect(await store.users.get('bob')).toBeNull()
  })

  it('lose no update when several are made at once', async ({ durableRedis: redis }) => {
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    await store.users.insert({ user: user('alice'), rights: [] })
    const parties = Array.from({ length: 8 }, (_, index) => party(`p${index}`))
    await Promise.all(
      parties.map((one) =>
        store.users.update('alice', (record) => ({
          ...record,
          rights: mergeRights(record.rights, [{ kind: 'CanReadAs', party: one }]),
        })),
      ),
    )
    const rights = (await store.users.get('alice'))?.rights ?? []
    expect(rights.map((right) => 'party' in right && right.party).sort()).toEqual(parties)
  })

  it('that were deleted do not register again, until an administrator makes them', async ({
    durableRedis: redis,
  }) => {
    const open = () => openValidatorStore({ redis: { path: redis.socketPath }, genesisHash })
    const record = { user: user('alice'), rights: [] }
    {
      await using store = await open()
      expect(await store.users.insertSelf(record)).toBe(true)
      expect(await store.users.delete('alice')).toBe(true)
      expect(await store.users.count()).toBe(0)
      // Only users that existed leave something behind.
      expect(await store.users.delete('bob')).toBe(false)
      expect(await store.users.isDeleted('bob')).toBe(false)
    }
    await using store = await open()
    expect(await store.users.isDeleted('alice')).toBe(true)
    await expect(store.users.insertSelf(record)).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
    })
    expect(await store.users.get('alice')).toBeNull()
    expect(await store.users.insert(record)).toBe(true)
    expect(await store.users.isDeleted('alice')).toBe(false)
    expect(await store.users.insertSelf(record)).toBe(false)
  })

  it('remember that a party was taken away, until they have a primary party', async ({
    durableRedis: redis,
  }) => {
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    const act = (hint: string) => ({ kind: 'CanActAs' as const, party: party(hint) })
    await store.users.insert({ user: user('alice'), rights: [] })
    const change = async (next: Partial<User>, rights: readonly ReturnType<typeof act>[]) =>
      (
        await store.users.update('alice', (record) => ({
          user: { ...record.user, ...next },
          rights,
        }))
      )?.isWithdrawn === true
    expect(await change({}, [])).toBe(false)
    expect(await change({ primaryParty: party('a') }, [act('a')])).toBe(false)
    expect(await change({}, [])).toBe(true)
    // The memory outlasts other changes.
    expect(await change({ primaryParty: null, metadata: { colour: 'blue' } }, [])).toBe(true)
    expect(await change({}, [act('b')])).toBe(true)
    expect(await change({ primaryParty: party('b') }, [act('b')])).toBe(false)
  })

  it('have a bounded number of rights', async ({ durableRedis: redis }) => {
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    const rights = Array.from({ length: RIGHTS_PER_USER_MAX + 1 }, (_, index) => ({
      kind: 'CanReadAs' as const,
      party: party(`p${index}`),
    }))
    await expect(store.users.insert({ user: user('alice'), rights })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    })
    expect(await store.users.insert({ user: user('alice'), rights: rights.slice(1) })).toBe(true)
  })

  it('are listed in byte order, page by page', async ({ durableRedis: redis }) => {
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    for (const id of ['bob', 'a_b', 'Zoe', 'a-b', 'alice'])
      await store.users.insert({ user: user(id), rights: [] })
    const page = async (after: string) =>
      (await store.users.list({ after, limit: 2 })).map((record) => record.user.id)
    expect([await page(''), await page('a-b'), await page('alice'), await page('bob')]).toEqual([
      ['Zoe', 'a-b'],
      ['a_b', 'alice'],
      ['bob'],
      [],
    ])
  })
})

describe('rights', () => {
  it('merge without duplicates and are taken away by value', () => {
    const act = { kind: 'CanActAs' as const, party: party('a') }
    const admin = { kind: 'ParticipantAdmin' as const }
    expect(mergeRights([act, admin], [{ ...act }, { ...admin }])).toEqual([act, admin])
    expect(withoutRights([act, admin], [{ ...act }])).toEqual([admin])
    expect(withoutRights([act], [{ kind: 'CanReadAs', party: act.party }])).toEqual([act])
  })
})

describe('parties', () => {
  it('belong to the user that claimed them first, and keep their annotations', async ({
    durableRedis: redis,
  }) => {
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    const { parties } = store
    const owners = await Promise.all(
      ['alice', 'bob', ''].map((owner) => parties.claim(party('a'), owner)),
    )
    expect(new Set(owners).size).toBe(1)
    expect(await parties.owner(party('a'))).toBe(owners[0])
    expect(await parties.owner(party('b'))).toBe(null)
    expect(await parties.claim(party('b'), '')).toBe('')
    expect(await parties.owner(party('b'))).toBe('')
    expect(await parties.claim(party('b'), 'bob')).toBe('')
    const annotate = (annotations: Record<string, string>) =>
      parties.update(party('b'), (current) => ({
        ...current,
        annotations: { ...current.annotations, ...annotations },
      }))
    await annotate({ 'a/b': 'ü' })
    await annotate({ 'a/b': 'ü' })
    await Promise.all([annotate({ c: '1' }), annotate({ d: '2' })])
    expect(await parties.details([party('a'), party('b')])).toEqual([
      { annotations: {}, version: 0 },
      { annotations: { 'a/b': 'ü', c: '1', d: '2' }, version: 3 },
    ])
  })
})

describe('pending submissions', () => {
  const pendingOf = (entryHash: string, changeId: string): PendingSubmission => ({
    entryHash,
    changeId,
    bytes: 'AA==',
    notBefore: 0,
    notAfter: 10,
    head: 3,
    completion: {
      userId: 'alice',
      actAs: [party('alice')],
      commandId: 'c',
      submissionId: entryHash,
      deduplication: { kind: 'duration', micros: 0 },
    },
  })
  const expiredAt = (offset: number, { entryHash, completion }: PendingSubmission) => ({
    offset,
    recordTime: offset,
    entryHash,
    completion,
    outcome: { kind: 'rejected' as const, code: 'X', message: 'too late' },
  })

  it('are stored once for each change, survive a kill, and end once', async () => {
    await using redis = await startRedis(DURABLE)
    const first = pendingOf('aa', 'change')
    {
      await using store = await openValidatorStore({
        redis: { path: redis.socketPath },
        genesisHash,
      })
      const added = await Promise.all(
        [first, pendingOf('bb', 'change'), pendingOf('cc', 'change')].map((pending) =>
          store.outbox.add(pending),
        ),
      )
      expect(added.map(({ kind }) => kind)).toEqual(['added', 'in-flight', 'in-flight'])
      expect(added[1]).toEqual({ kind: 'in-flight', other: first })
      await redis.kill()
    }
    await redis.restart()
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    expect(await store.outbox.list()).toEqual([first])
    await store.outbox.complete(first, null)
    await store.outbox.complete(first, expiredAt(4, first))
    expect(await store.outbox.list()).toEqual([])
    expect(await store.outbox.expired({ after: 0, upTo: 9, limit: 9 })).toEqual([])
    expect(await store.outbox.add(pendingOf('dd', 'change'))).toEqual({ kind: 'added' })
  })

  it('have completions at the offset of their expiry', async ({ durableRedis: redis }) => {
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    for (const [index, offset] of [300, 7, 255].entries()) {
      const pending = pendingOf(`a${index}`, `change-${index}`)
      await store.outbox.add(pending)
      await store.outbox.complete(pending, expiredAt(offset, pending))
    }
    const offsets = async (after: number, upTo: number) =>
      (await store.outbox.expired({ after, upTo, limit: 9 })).map(({ offset }) => offset)
    expect(await offsets(0, 300)).toEqual([7, 255, 300])
    expect(await offsets(7, 299)).toEqual([255])
  })

  it('leave the newest 10 000 completions of those that expired', async ({
    durableRedis: redis,
  }) => {
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    const expire = async (offset: number) => {
      const pending = pendingOf(`e${offset}`, `change-${offset}`)
      await store.outbox.add(pending)
      await store.outbox.complete(pending, expiredAt(offset, pending))
    }
    await expire(300)
    const client = redis.connect()
    const offsetBytes = (offset: number) => {
      const bytes = Buffer.alloc(8)
      bytes.writeBigUInt64BE(BigInt(offset))
      return bytes
    }
    const members = Array.from({ length: 10_000 }, (_, index) => ['0', offsetBytes(1_000 + index)])
    await client.zadd('{users}:expired', ...members.flat())
    await expire(20_000)
    const [first] = await client.zrangeBuffer('{users}:expired', '0', '0')
    expect(await client.zcard('{users}:expired')).toBe(10_000)
    expect(Number(first?.readBigUInt64BE(0))).toBe(1_001)
    client.disconnect()
  })

  it('are bounded', async ({ durableRedis: redis }) => {
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    for (let n = 0; n < PENDING_MAX; n++) await store.outbox.add(pendingOf(`a${n}`, `change-${n}`))
    expect(await store.outbox.add(pendingOf('bb', 'one more'))).toEqual({ kind: 'full' })
    expect(await store.outbox.add(pendingOf('bb', 'change-0'))).toMatchObject({ kind: 'in-flight' })
  })
})

describe('auto-renewals, floor and addresses', () => {
  it('store for each request whether auto-renewal is enabled', async ({ durableRedis: redis }) => {
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    const { autoRenewals } = store
    const renewal = { party: party('alice'), user: 'alice' }
    await autoRenewals.set('00aa', renewal)
    await autoRenewals.set('00bb', renewal)
    await autoRenewals.set('00bb', null)
    expect(await autoRenewals.find(['00bb', '00aa', '00cc'])).toEqual([null, renewal, null])
    expect(await autoRenewals.find([])).toEqual([])
  })

  it('find an auto-renewal of an earlier release, which names no user', async ({
    durableRedis: redis,
  }) => {
    const address = { path: redis.socketPath }
    await using store = await openValidatorStore({ redis: address, genesisHash })
    await store.parties.claim(party('alice'), 'alice')
    const client = redis.connect()
    await client.hset('{users}:auto-renewals', '0a', party('alice'))
    client.disconnect()
    expect(await store.autoRenewals.find(['0a'])).toEqual([{ party: party('alice'), user: null }])
  })

  it('list all enabled auto-renewals, and delete ended ones', async ({ durableRedis: redis }) => {
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    const references = Array.from({ length: 1_200 }, (_, index) => `00${index}`)
    await Promise.all(
      references.map((reference) =>
        store.autoRenewals.set(reference, { party: party('alice'), user: 'alice' }),
      ),
    )
    const listed = new Set<string>()
    for await (const portion of store.autoRenewals.portions()) {
      expect(portion.length).toBeLessThanOrEqual(500)
      for (const reference of portion) listed.add(reference)
    }
    expect([...listed].sort()).toEqual(references.toSorted())
    await store.autoRenewals.forget(['001', '003'])
    await store.autoRenewals.forget([])
    const left = await store.autoRenewals.find(['000', '001', '002', '003'])
    expect(left.map((one) => one !== null)).toEqual([true, false, true, false])
  })

  it('store the verified floor and the addresses, for one network', async ({
    durableRedis: redis,
  }) => {
    {
      await using store = await openValidatorStore({
        redis: { path: redis.socketPath },
        genesisHash,
      })
      expect(await store.floor.load()).toBe(0)
      for (const offset of [3, 9, 5]) store.floor.save(offset)
    }
    await using same = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    expect(await same.floor.load()).toBe(9)
    same.floor.save(4)
    await same.floor.flush()
    expect(await same.floor.load()).toBe(9)
    // After a lower offset, which is not written, the next higher one is written.
    same.floor.save(12)
    await same.floor.flush()
    await using later = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    expect(await later.floor.load()).toBe(12)
    await using other = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash: 'cd'.repeat(32),
    })
    expect(await other.floor.load()).toBe(0)
    expect(await other.addresses.load()).toBeNull()
    await other.addresses.save('[]')
    expect([await other.addresses.load(), await same.addresses.load()]).toEqual(['[]', null])
    await same.evidence.save('[1]')
    expect([await same.evidence.load(), await other.evidence.load()]).toEqual(['[1]', null])
    expect(await same.addresses.load()).toBeNull()
  })
})

describe('payments', () => {
  const payment = (changeId: string, keptUntil: number) => ({
    changeId: changeId.repeat(64),
    userId: 'alice 🍰',
    content: '0'.repeat(64),
    updateId: 'u',
    offset: 1,
    recordTime: 1,
    result: { contract_id: '00' },
    keptUntil,
  })

  it('are recorded once, counted for each user, and forgotten when their time is over', async ({
    durableRedis: redis,
  }) => {
    await using store = await openValidatorStore({
      redis: { path: redis.socketPath },
      genesisHash,
    })
    const { payments } = store
    expect(await payments.reached()).toBeNull()
    const reached = { offset: 2, recordTime: 5, incompleteUntil: 0 }
    const records = [payment('a', 10), payment('b', 2 ** 40)]
    await payments.record(records, reached)
    await payments.record([{ ...payment('a', 10), updateId: 'later' }], { ...reached, offset: 3 })
    expect(await payments.find('a'.repeat(64))).toEqual(records[0])
    expect(await payments.reached()).toMatchObject({ offset: 3 })
    expect(await payments.count('alice 🍰')).toBe(2)
    await payments.forget(10)
    expect(await payments.count('alice 🍰')).toBe(2)
    await payments.forget(11)
    expect(await payments.find('a'.repeat(64))).toBeNull()
    expect(await payments.find('b'.repeat(64))).toEqual(records[1])
    expect(await payments.count('alice 🍰')).toBe(1)
    await payments.forget(2 ** 41)
    expect(await payments.count('alice 🍰')).toBe(0)
    const connection = redis.connect()
    expect(await connection.keys('{users}:payment*')).toEqual(['{users}:payments-reached'])
    connection.disconnect()
  })
})
