/** Which clients share a write floor, and for how long. */
import { createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createSharedStore } from '../platform/shared-store.ts'
import { createMemoryStore, type Store } from '../platform/store.ts'
import { createStored, createWriteFloor } from './write-floor.ts'

const clock = createManualClock()
const floorIn = (store: Store) =>
  createWriteFloor(createSharedStore(store, clock), async () => 'written', clock)

it('clients of one store see the newest offset of all, for a minute', async () => {
  const store = createMemoryStore()
  const [one, other] = [floorIn(store), floorIn(store)]
  expect(await other.offset()).toBe(0)
  await one.record(7)
  await other.record(5)
  for (const floor of [one, other]) expect(await floor.offset()).toBe(7)
  const { writeFloor } = createStored(null, clock, async () => '00')
  expect(await writeFloor.offset()).toBe(0)
  await clock.advance(60_000)
  expect(await one.offset()).toBe(0)
  await one.record(6)
  expect(await other.offset()).toBe(6)
})

it('a client sees its own offset for a minute, also if the clock of the device is set meanwhile', async () => {
  const device = { aheadMicros: 0 }
  const skewed = { ...clock, nowMicros: () => clock.nowMicros() + device.aheadMicros }
  const shared = createSharedStore(createMemoryStore(), skewed)
  const floor = createWriteFloor(shared, async () => 'written', skewed)
  await floor.record(7)
  device.aheadMicros = -300_000_000
  expect(await floor.offset()).toBe(7)
  device.aheadMicros = 300_000_000
  expect(await floor.offset()).toBe(7)
  await clock.advance(60_000)
  expect(await floor.offset()).toBe(0)
})

it.each(['"x"', '{}', '{"offset":"9","atMs":1}', 'x', '3'])(
  'a stored %s is ignored',
  async (text) => {
    const store = createMemoryStore()
    await store.set('written', text)
    const floor = floorIn(store)
    expect(await floor.offset()).toBe(0)
    await floor.record(3)
    expect(await floor.offset()).toBe(3)
  },
)
