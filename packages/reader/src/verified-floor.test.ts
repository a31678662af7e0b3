/** What a reader stores of its floor. */
import { expect, it } from 'vitest'
import { createVerifiedFloor } from './verified-floor.ts'

/** A store in which each save ends when the test says so. */
function createHeldStore() {
  const saves: { readonly offset: number; readonly end: (error?: Error) => void }[] = []
  return {
    offsets: () => saves.map(({ offset }) => offset),
    /** Ends the newest save, and lets what waited for it run. */
    async end(error?: Error) {
      saves.at(-1)?.end(error)
      await new Promise((resolve) => setImmediate(resolve))
    },
    load: async () => 0,
    save: (offset: number) =>
      new Promise<void>((resolve, reject) => {
        saves.push({ offset, end: (error) => (error === undefined ? resolve() : reject(error)) })
      }),
  }
}

it('stores each floor that is raised after the previous one was stored', async () => {
  const store = createHeldStore()
  const floor = createVerifiedFloor(store)
  for (const offset of [4, 5, 6]) {
    floor.raise(offset)
    await store.end()
  }
  expect(store.offsets()).toEqual([4, 5, 6])
})

it('stores the newest floor that was raised during a write', async () => {
  const store = createHeldStore()
  const floor = createVerifiedFloor(store)
  for (const offset of [4, 5, 6]) floor.raise(offset)
  expect(store.offsets()).toEqual([4])
  await store.end()
  expect(store.offsets()).toEqual([4, 6])
  await store.end()
  expect(store.offsets()).toEqual([4, 6])
})

it('stores the next floor after a failed write', async () => {
  const store = createHeldStore()
  const floor = createVerifiedFloor(store)
  floor.raise(4)
  await store.end(new Error('the disk is full'))
  expect(floor.value()).toBe(4)
  floor.raise(5)
  expect(store.offsets()).toEqual([4, 5])
})
