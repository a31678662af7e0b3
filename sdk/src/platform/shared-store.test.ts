/** A store that several clients share, and that may fail. */
import { until } from '@quorumscan/testkit'
import { expect, it, vi } from 'vitest'
import { systemClock } from './clock.ts'
import { createSharedStore } from './shared-store.ts'
import { sharedValue } from './shared-values.ts'
import { createMemoryStore, type Store } from './store.ts'

const KEY = 'floor'
const higher = { first: 0, merge: (a: number, b: number) => Math.max(a, b) }

it('a floor that two clients share never goes down, in any order of writes', async () => {
  const store = createMemoryStore()
  const [one, other] = [
    createSharedStore(store, systemClock),
    createSharedStore({ ...store }, systemClock),
  ]
  await sharedValue(one, KEY, higher).save(100)
  await sharedValue(other, KEY, higher).save(90)
  expect(store.get(KEY)).toBe('100')
  expect(await sharedValue(other, KEY, higher).load()).toBe(100)
})

it('a store that hangs is waited for once; values are in memory meanwhile, and stored once it answers', async () => {
  const values = createMemoryStore()
  let held: (() => void)[] | null = []
  const gate = () =>
    held === null ? Promise.resolve() : new Promise<void>((resolve) => held?.push(resolve))
  const store: Store = {
    get: (key) => gate().then(() => values.get(key)),
    set: (key, value) => gate().then(() => values.set(key, value)),
  }
  let waitCount = 0
  const delay = () =>
    held === null ? new Promise<never>(() => {}) : Promise.resolve(void waitCount++)
  const clock = { ...systemClock, delay }
  const failures: string[] = []
  const shared = createSharedStore(store, clock, ({ code }) => failures.push(code))
  const floor = sharedValue(shared, KEY, higher)
  await floor.save(5)
  const waited = waitCount
  await floor.save(7)
  expect(await floor.load()).toBe(7)
  expect(waitCount).toBe(waited)
  for (const release of held ?? []) release()
  held = null
  await until('the store to have it', async () => {
    await floor.save(7)
    return values.get(KEY) === '7' && shared.failure() === null ? true : undefined
  })
  expect(failures).toEqual(['STORE_UNAVAILABLE'])
})

it.each([
  ['waited for longer than the lock of a process that ended', undefined, '1'],
  ['waited for a second if the client is told of failures', () => {}, null],
])('a store that answers after 5 s is %s', async (_, onFailure, expected) => {
  let answer = (_: string) => {}
  const answered = new Promise<string>((resolve) => {
    answer = resolve
  })
  const delay: typeof systemClock.delay = async (ms) => {
    if (ms > 5000) await new Promise(() => {})
  }
  const store: Store = { get: () => answered, set: () => {} }
  const read = createSharedStore(store, { ...systemClock, delay }, onFailure).get(KEY)
  // The wait of a second ends now.
  await new Promise((resolve) => setImmediate(resolve))
  answer('1')
  expect(await read).toBe(expected)
})

it('a store that hangs for one client does not block others', async () => {
  const hung: Store = { get: () => new Promise(() => {}), set: () => {} }
  const clock = { ...systemClock, delay: async () => {} }
  const hanging = createSharedStore(hung, clock)
    .update(KEY, () => '1')
    .catch(String)
  const store = createMemoryStore()
  await createSharedStore(store, systemClock).update(KEY, () => '2')
  expect(await hanging).toContain('it does not answer')
  expect(store.get(KEY)).toBe('2')
})

it.each([
  ['no locks', {}],
  ['locks that are null, as in happy-dom', { locks: null }],
])('a platform with %s stores all the same', async (_, navigator) => {
  vi.stubGlobal('navigator', navigator)
  const store = createMemoryStore()
  const floor = sharedValue(createSharedStore(store, systemClock), KEY, higher)
  await Promise.all([floor.save(7), floor.save(5)])
  vi.unstubAllGlobals()
  expect(store.get(KEY)).toBe('7')
})

it.each(['no JSON', '"x"', '{}', '1.5', ''])(
  'a floor %j is damaged: it is neither used nor replaced',
  async (text) => {
    const store = createMemoryStore()
    await store.set(KEY, text)
    const shared = createSharedStore(store, systemClock)
    const floor = sharedValue(shared, KEY, { ...higher, isValid: Number.isSafeInteger })
    await expect(floor.load()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await floor.save(9)
    expect(store.get(KEY)).toBe(text)
    expect(shared.failure()).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await store.set(KEY, '7')
    expect(await floor.load()).toBe(7)
    await floor.save(9)
    expect(shared.failure()).toBeNull()
  },
)
