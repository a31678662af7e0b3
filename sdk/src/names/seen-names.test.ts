/** The warning about a change of owner: how long it remains, and which clients share it. */
import { expect, it } from 'vitest'
import { systemClock } from '../platform/clock.ts'
import { broadcast } from '../platform/page.ts'
import { createSharedStore } from '../platform/shared-store.ts'
import { createMemoryStore, type Store } from '../platform/store.ts'
import { seenNamesFull } from './name-changes.ts'
import { createSeenNames, type Sighting } from './seen-names.ts'

const FRIEND = 'friend.unverified.ns'
/** The names that a client stores, to warn of a change of owner. */
const OLD: Sighting = { name: FRIEND, party: 'old', atMicros: 5 }
const clientOf = (store: Store, seenNamesMax?: number) => {
  const shared = createSharedStore(store, systemClock)
  const seen = createSeenNames(shared, async () => 'names', {
    seenNamesMax,
    extras: async () => ({ seenNamesFull, broadcast }),
  })
  const sighting = (name: string, party: string) => ({ name, party, atMicros: 5 })
  return {
    compare: async (name: string, party: string, isKept = true) =>
      (await seen.compare([sighting(name, party)], isKept))[0],
    compareAll: (names: readonly string[], party: string) =>
      seen.compare(
        names.map((name) => sighting(name, party)),
        true,
      ),
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

it('a listed name is compared, and not remembered', async () => {
  const seen = clientOf(createMemoryStore())
  expect(await seen.compare(FRIEND, 'old', false)).toBeNull()
  expect(await seen.compare(FRIEND, 'other', false)).toBeNull()
  await seen.compare(FRIEND, 'old')
  expect(await seen.compare(FRIEND, 'new', false)).toEqual(OLD)
})

it.each([
  ['that is broken', 'no JSON'],
  ['of something else', '{"a":1}'],
  ['with odd rows', '[1,["a"],["friend.unverified.ns","x"],null]'],
])('a store %s counts as empty', async (_, text) => {
  const store = createMemoryStore()
  await store.set('names', text)
  const seen = clientOf(store)
  expect(await seen.compare(FRIEND, 'old')).toBeNull()
  expect(await seen.compare(FRIEND, 'new')).toEqual(OLD)
})

it('a store that cannot be written keeps the warning until the program ends', async () => {
  const full: Store = {
    get: () => null,
    set: () => {
      throw new Error('full')
    },
  }
  const seen = clientOf(full)
  expect(await seen.compare(FRIEND, 'old')).toBeNull()
  expect(await seen.compare(FRIEND, 'new')).toEqual(OLD)
  await seen.accept(FRIEND, 'new')
  expect(await seen.compare(FRIEND, 'new')).toBeNull()
})
