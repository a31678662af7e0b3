/** A store that several clients share, and that may fail. */
import { until } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { systemClock } from './clock.ts'
import { createKept, keptValue } from './kept.ts'
import { createMemoryStore, type Store } from './store.ts'

const KEY = 'floor'
const higher = { first: 0, merge: (a: number, b: number) => Math.max(a, b) }

it('a floor that two clients keep never goes down, whoever writes last', async () => {
  const store = createMemoryStore()
  const [one, other] = [createKept(store, systemClock), createKept({ ...store }, systemClock)]
  await keptValue(one, KEY, higher).save(100)
  await keptValue(other, KEY, higher).save(90)
  expect(store.get(KEY)).toBe('100')
  expect(await keptValue(other, KEY, higher).load()).toBe(100)
})

it('a store that hangs is waited for once; what it should keep is known meanwhile, and kept once it is back', async () => {
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
  const kept = createKept(store, clock)
  const floor = keptValue(kept, KEY, higher)
  await floor.save(5)
  const waited = waitCount
  await floor.save(7)
  expect(await floor.load()).toBe(7)
  expect(waitCount).toBe(waited)
  for (const release of held ?? []) release()
  held = null
  await until('the store to have it', async () => {
    await floor.save(7)
    return values.get(KEY) === '7' ? true : undefined
  })
})

it('a store that hangs for one client keeps no other one out', async () => {
  const hung: Store = { get: () => new Promise(() => {}), set: () => {} }
  const clock = { ...systemClock, delay: async () => {} }
  const hanging = createKept(hung, clock).update(KEY, () => '1')
  const store = createMemoryStore()
  await createKept(store, systemClock).update(KEY, () => '2')
  await hanging
  expect(store.get(KEY)).toBe('2')
})
