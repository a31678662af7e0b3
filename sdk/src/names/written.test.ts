/** Which clients read a written offset, and for how long. */
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createSharedStore } from '../platform/shared-store.ts'
import { createMemoryStore, type Store } from '../platform/store.ts'
import { createWritten } from './reads.ts'

const clock = createManualClock()
const writtenIn = (store: Store | undefined) =>
  createWritten(createSharedStore(store, clock), async () => 'written', clock)

it('clients of one store see the newest offset of all, for a minute', async () => {
  const store = createMemoryStore()
  const [one, other] = [writtenIn(store), writtenIn(store)]
  expect(await other.offset()).toBe(0)
  await one.note(7)
  await other.note(5)
  for (const written of [one, other]) expect(await written.offset()).toBe(7)
  expect(await writtenIn(undefined).offset()).toBe(0)
  await clock.advance(60_000)
  expect(await one.offset()).toBe(0)
  await one.note(6)
  expect(await other.offset()).toBe(6)
})

it.each(['"x"', '{}', '{"offset":"9","atMs":1}', 'x', '3'])(
  'a stored %s is ignored',
  async (text) => {
    const store = createMemoryStore()
    await store.set('written', text)
    const written = writtenIn(store)
    expect(await written.offset()).toBe(0)
    await written.note(3)
    expect(await written.offset()).toBe(3)
  },
)
