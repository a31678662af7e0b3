/** The warning that a name changed hands: what keeps it, and who shares it. */
import { expect, it } from 'vitest'
import { createMemoryStore, type Store } from '../platform/store.ts'
import { createSeenNames } from './seen-names.ts'

const NAMES_MAX = 1000
const FRIEND = 'friend.unverified.ns'
const CHANGE = { name: FRIEND, previousParty: 'old', party: 'new' }
const clientOf = (store: Store) => createSeenNames(store, async () => 'names')

it('a name that is looked up now and then is not forgotten for many others', async () => {
  const seen = clientOf(createMemoryStore())
  await seen.compare(FRIEND, 'old')
  for (let count = 0; count < NAMES_MAX; count++) {
    await seen.compare(`n-${count}`, 'p')
    if (count === NAMES_MAX / 2) await seen.compare(FRIEND, 'old')
  }
  expect(await seen.compare(FRIEND, 'new')).toEqual(CHANGE)
  // The first of the others went.
  expect(await seen.compare('n-0', 'other')).toBeNull()
})

it('clients of one store know what the others saw, and what was accepted there', async () => {
  const store = createMemoryStore()
  const [tab, other] = [clientOf(store), clientOf(store)]
  await tab.compare('a', 'p')
  await other.compare('b', 'p')
  await tab.compare(FRIEND, 'old')
  expect(await other.compare(FRIEND, 'new')).toEqual(CHANGE)
  await tab.accept(FRIEND, 'new')
  expect(await other.compare(FRIEND, 'new')).toBeNull()
  await other.compare('c', 'p')
  const later = clientOf(store)
  for (const name of ['a', 'b', 'c'])
    expect(await later.compare(name, 'x'), name).toMatchObject({ previousParty: 'p' })
})

it('names that come at one moment are all kept', async () => {
  const store = createMemoryStore()
  const seen = clientOf(store)
  const names = Array.from({ length: 20 }, (_, index) => `n-${index}`)
  await Promise.all(names.map((name) => seen.compare(name, 'p')))
  const later = clientOf(store)
  for (const name of names) expect(await later.compare(name, 'x'), name).not.toBeNull()
})

it.each([
  ['that is broken', 'no JSON'],
  ['of something else', '{"a":1}'],
  ['with odd rows', '[1,["a"],null]'],
])('a store %s is as good as empty', async (_, text) => {
  const store = createMemoryStore()
  await store.set('names', text)
  const seen = clientOf(store)
  expect(await seen.compare(FRIEND, 'old')).toBeNull()
  expect(await seen.compare(FRIEND, 'new')).toEqual(CHANGE)
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
  expect(await seen.compare(FRIEND, 'new')).toEqual(CHANGE)
  await seen.accept(FRIEND, 'new')
  expect(await seen.compare(FRIEND, 'new')).toBeNull()
})
