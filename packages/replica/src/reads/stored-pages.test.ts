import { expect, it } from 'vitest'
import type { TimelineEntry } from '../storage/timeline.ts'
import { createStoredPages } from './stored-pages.ts'

const positionAt = (offset: number): TimelineEntry => ({
  offset,
  recordTime: offset,
  historyHash: 'ab'.repeat(32),
  endedCount: 0,
})

/** Returns the number of the read that a page is of. */
function createReading() {
  const storedPages = createStoredPages()
  let readCount = 0
  return async (position: TimelineEntry, key: string, bytes = 1) => {
    const rows = await storedPages(position, key, async () => [
      { name: String(++readCount), body: new Uint8Array(bytes) },
    ])
    return Number(rows[0]?.name)
  }
}

it('reads a page once while the offset that is read stays the same', async () => {
  const read = createReading()
  const [first, second] = [positionAt(1), positionAt(2)]
  expect(await read(first, 'a')).toBe(1)
  expect(await read(first, 'a')).toBe(1)
  expect(await read(first, 'b')).toBe(2)
  expect(await read(second, 'a')).toBe(3)
  expect(await read(second, 'a')).toBe(3)
})

it('reads it again where the same offset belongs to a state that was loaded again', async () => {
  const read = createReading()
  expect(await read(positionAt(1), 'a')).toBe(1)
  expect(await read(positionAt(1), 'a')).toBe(2)
})

it('stores nothing of an offset that another one has replaced meanwhile', async () => {
  const storedPages = createStoredPages()
  const [first, second] = [positionAt(1), positionAt(2)]
  const row = (name: string) => [{ name, body: new Uint8Array(1) }]
  let finish = () => {}
  const slow = storedPages(first, 'a', async () => {
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    return row('first')
  })
  await storedPages(second, 'b', async () => row('second'))
  finish()
  expect(await slow).toEqual(row('first'))
  expect(await storedPages(second, 'a', async () => row('second'))).toEqual(row('second'))
})

it('stores pages up to its limit of bytes', async () => {
  const read = createReading()
  const position = positionAt(1)
  const bytes = 3 * 2 ** 20
  expect(await read(position, 'a', bytes)).toBe(1)
  expect(await read(position, 'b', bytes)).toBe(2)
  expect(await read(position, 'a', bytes)).toBe(1)
  expect(await read(position, 'c', bytes)).toBe(3)
  expect(await read(position, 'b', bytes)).toBe(4)
})
