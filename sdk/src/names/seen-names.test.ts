/** The warning about a change of owner: how long it remains, and which clients share it. */
import { describe, expect, it } from 'vitest'
import type { QuorumscanError } from '../errors.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { announceAccepted } from '../platform/page-events.ts'
import { parseParty } from '../platform/parse-party.ts'
import { createSharedStore } from '../platform/shared-store.ts'
import { createMemoryStore, type Store } from '../platform/store.ts'
import { seenNamesFull } from './name-changes.ts'
import { createSeenNames, type SeenName } from './seen-names.ts'

const FRIEND = 'friend.unverified.ns'
/** The names that a client stores, to warn of a change of owner. Parties are written by their hints. */
const OLD = { name: FRIEND, party: 'old', atMicros: 5 }
const partyOf = (hint: string) => parseParty(`${hint}::1220${'a'.repeat(64)}`)
const byHint = (seen: SeenName | null | undefined) =>
  seen ? { ...seen, party: seen.party.split('::')[0] } : null
const clientOf = (
  store: Store,
  seenNamesMax?: number,
  onFailure?: (error: QuorumscanError) => void,
  clock: Clock = systemClock,
) => {
  const shared = createSharedStore(store, clock, onFailure)
  const seen = createSeenNames(shared, async () => 'names', {
    seenNamesMax,
    extras: async () => ({ seenNamesFull, announceAccepted }),
  })
  const sighting = (name: string, party: string) => ({ name, party: partyOf(party), atMicros: 5 })
  return {
    compare: async (name: string, party: string, isKept = true) =>
      byHint((await seen.compare([sighting(name, party)], isKept))[0]),
    compareAll: async (names: readonly string[], party: string) => {
      const sightings = names.map((name) => sighting(name, party))
      return (await seen.compare(sightings, true)).map(byHint)
    },
    accept: (name: string, party: string) => seen.accept(sighting(name, party)),
  }
}

it('reports a change of owner of the first name after 9 999 others, also in the next program', async () => {
  const store = createMemoryStore()
  const seen = clientOf(store)
  await seen.compare(FRIEND, 'old')
  const others = Array.from({ length: 9_999 }, (_, index) => `n-${index}`)
  await seen.compareAll(others, 'p')
  expect(await seen.compare(FRIEND, 'new')).toEqual(OLD)
  expect(await clientOf(store).compare(FRIEND, 'new')).toEqual(OLD)
})

it('refuses a name that it cannot remember, and forgets none for it', async () => {
  const store = createMemoryStore()
  const seen = clientOf(store, 2)
  await seen.compare(FRIEND, 'old')
  await seen.compare('a', 'p')
  const isFull = { code: 'SEEN_NAMES_FULL', message: expect.stringContaining('remembers 2 names') }
  await expect(seen.compare('b', 'p')).rejects.toMatchObject(isFull)
  await expect(seen.accept('b', 'p')).rejects.toMatchObject(isFull)
  await expect(seen.compareAll(['a', 'b'], 'p')).rejects.toMatchObject(isFull)
  expect(await seen.compare('b', 'p', false)).toBeNull()
  expect(await seen.compare(FRIEND, 'new')).toEqual(OLD)
  await seen.accept(FRIEND, 'new')
  expect(await seen.compare(FRIEND, 'new')).toBeNull()
  // A client with a larger limit continues with the same store.
  expect(await clientOf(store, 3).compare('b', 'p')).toBeNull()
  expect(await clientOf(store, 3).compare('b', 'q')).toMatchObject({ party: 'p' })
})

it('remembers no name if the limit is 0', async () => {
  const store = createMemoryStore()
  const seen = clientOf(store, 0)
  expect(await seen.compare(FRIEND, 'old')).toBeNull()
  expect(await seen.compare(FRIEND, 'new')).toBeNull()
  expect(store.get('names')).toBeNull()
})

it('clients of one store share seen and accepted names', async () => {
  const store = createMemoryStore()
  const [tab, other] = [clientOf(store), clientOf(store)]
  await tab.compare('a', 'p')
  await other.compare('b', 'p')
  await tab.compare(FRIEND, 'old')
  expect(await other.compare(FRIEND, 'new')).toEqual(OLD)
  await tab.accept(FRIEND, 'new')
  expect(await other.compare(FRIEND, 'new')).toBeNull()
  await other.compare('c', 'p')
  const later = clientOf(store)
  for (const name of ['a', 'b', 'c'])
    expect(await later.compare(name, 'x'), name).toMatchObject({ party: 'p' })
})

it('names that several clients compare at once are all stored', async () => {
  const values = createMemoryStore()
  const store: Store = {
    get: async (key) => values.get(key),
    set: async (key, value) => values.set(key, value),
  }
  const names = Array.from({ length: 33 }, (_, index) => `n-${index}`)
  const clients = Array.from({ length: 3 }, () => clientOf({ ...store }))
  const compared = names.map((name, index) => clients[index % clients.length]?.compare(name, 'p'))
  await Promise.all(compared)
  const later = clientOf(store)
  for (const name of names) expect(await later.compare(name, 'x'), name).not.toBeNull()
})

it('names of one request are stored by one write, and compared in order', async () => {
  const memory = createMemoryStore()
  let writes = 0
  const seen = clientOf({
    get: memory.get,
    set: (key, value) => {
      writes++
      return memory.set(key, value)
    },
  })
  const names = Array.from({ length: 300 }, (_, index) => `n-${index}`)
  expect(await seen.compareAll(names, 'p')).toEqual(names.map(() => null))
  expect(writes).toBe(1)
  await seen.accept('n-7', 'q')
  const again = await seen.compareAll(names, 'p')
  expect(again.flatMap((each) => each ?? [])).toMatchObject([{ name: 'n-7', party: 'q' }])
  expect(again[7]).not.toBeNull()
})

it('an owner that an earlier version stored as any text is another one, until the user accepts one', async () => {
  const store = createMemoryStore()
  const seen = clientOf(store)
  await seen.compare('a', 'p')
  const [row] = JSON.parse(String(await store.get('names')))
  await store.set('names', JSON.stringify([[FRIEND, ' old ', 5], row]))
  const other = clientOf(store)
  expect(await other.compareAll([FRIEND, 'a'], 'p')).toEqual([{ ...OLD, party: ' old ' }, null])
  await other.accept(FRIEND, 'p')
  expect(await clientOf(store).compareAll([FRIEND, 'a'], 'p')).toEqual([null, null])
})

it('a listed name is compared, and not remembered', async () => {
  const seen = clientOf(createMemoryStore())
  expect(await seen.compare(FRIEND, 'old', false)).toBeNull()
  expect(await seen.compare(FRIEND, 'other', false)).toBeNull()
  await seen.compare(FRIEND, 'old')
  expect(await seen.compare(FRIEND, 'new', false)).toEqual(OLD)
})

describe('a store without which no change of owner can be detected', () => {
  const UNAVAILABLE = { code: 'STORE_UNAVAILABLE', definite: true, retryable: true }
  const storeOf = (value: unknown): Store => ({ get: () => value as string, set: () => {} })
  const failing = () => {
    throw new Error('locked')
  }
  const party = partyOf('old')
  const damaged = {
    'is broken': 'no JSON',
    'is empty': '',
    'is an object': '{"a":1}',
    'has an odd row': JSON.stringify([
      [FRIEND, party, 5],
      [FRIEND, party],
    ]),
    'has rows of a newer version': JSON.stringify([[FRIEND, party, 5, { v: 2 }]]),
    'is an object of a newer version': '{"version":2,"names":[]}',
    'is no text': [[FRIEND, party, 5]],
  }

  it.each(Object.entries(damaged))(
    'refuses a list that %s, and leaves it as it is',
    async (_, value) => {
      const written: string[] = []
      const store = { ...storeOf(value), set: (_: string, text: string) => void written.push(text) }
      const seen = clientOf(store)
      for (const isKept of [true, true, false])
        await expect(seen.compare(FRIEND, 'new', isKept)).rejects.toMatchObject(UNAVAILABLE)
      await expect(seen.accept(FRIEND, 'new')).rejects.toMatchObject(UNAVAILABLE)
      expect(written).toEqual([])
    },
  )

  it.each([
    ['cannot be read', { get: failing, set: () => {} }],
    ['fails to be read', { get: () => Promise.reject(new Error('locked')), set: () => {} }],
    ['is full', { get: () => null, set: failing }],
    ['is read-only', { get: () => '[]', set: () => Promise.reject(new Error('read-only')) }],
    ['drops what is written', { get: () => null, set: () => {} }],
  ] as [string, Store][])(
    'that %s fails every lookup of a new name, or reports it',
    async (_, store) => {
      const seen = clientOf(store)
      for (const party of ['old', 'old', 'new'])
        await expect(seen.compare(FRIEND, party)).rejects.toMatchObject(UNAVAILABLE)
      const failures: unknown[] = []
      const told = clientOf(store, undefined, (error) => failures.push(error))
      expect(await told.compare(FRIEND, 'old')).toBeNull()
      expect(await told.compare(FRIEND, 'new')).toEqual(OLD)
      await told.accept(FRIEND, 'new')
      expect(await told.compare(FRIEND, 'new')).toBeNull()
      // Once for reading and once for writing, as long as they fail.
      expect([1, 2]).toContain(failures.length)
      for (const failure of failures) expect(failure).toMatchObject(UNAVAILABLE)
    },
  )

  it('that hangs delays one lookup, and then fails each at once, until it answers', async () => {
    const values = createMemoryStore()
    let isHanging = true
    let release = () => {}
    const store: Store = {
      get: (key) =>
        isHanging
          ? new Promise((resolve) => {
              release = () => resolve(values.get(key))
            })
          : values.get(key),
      set: values.set,
    }
    let waitCount = 0
    const delay: Clock['delay'] = async () => void waitCount++
    const seen = clientOf(store, undefined, undefined, { ...systemClock, delay })
    for (let count = 0; count < 3; count++)
      await expect(seen.compare(FRIEND, 'old')).rejects.toMatchObject(UNAVAILABLE)
    expect(waitCount).toBe(1)
    isHanging = false
    release()
    const usual = clientOf(store)
    expect(await usual.compare(FRIEND, 'old')).toBeNull()
    expect(await usual.compare(FRIEND, 'new')).toEqual(OLD)
  })

  it('is used again once it is repaired', async () => {
    const store = createMemoryStore()
    await clientOf(store).compare(FRIEND, 'old')
    const good = String(store.get('names'))
    await store.set('names', 'no JSON')
    const seen = clientOf(store)
    await expect(seen.compare(FRIEND, 'new')).rejects.toMatchObject(UNAVAILABLE)
    await store.set('names', good)
    expect(await seen.compare(FRIEND, 'new')).toEqual(OLD)
  })

  it('whose values are lost while the client runs keeps those that the client has', async () => {
    const store = createMemoryStore()
    const seen = clientOf(store)
    await seen.compare(FRIEND, 'old')
    const emptied = { ...store, get: () => null }
    Object.assign(store, emptied)
    expect(await seen.compare(FRIEND, 'new')).toEqual(OLD)
  })
})
