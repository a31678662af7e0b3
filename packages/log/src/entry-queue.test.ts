import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createEntryQueue,
  fitsIntoGroup,
  GROUP_BYTES_MAX,
  GROUP_ENTRIES_MAX,
} from './entry-queue.ts'
import { groupBytesOf } from './group.ts'

const waiting = (size: number, sender = 'alice') => ({
  bytes: new Uint8Array(size),
  sender,
  resolve: () => {},
  reject: () => {},
})

describe('the queue', () => {
  it('returns all entries in order, in groups as large as both bounds allow', () => {
    const sizes = fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 256 * 1024 })), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(sizes, (list) => {
        const queue = createEntryQueue()
        const items = list.map((size, index) => waiting(size, `sender ${index}`))
        for (const item of items) expect(queue.push(item)).toBe(true)
        const taken: unknown[] = []
        while (!queue.isEmpty()) {
          const group = queue.takeGroup()
          expect(group.length).toBeGreaterThan(0)
          const bytes = group.reduce((sum, item) => sum + item.bytes.byteLength, 0)
          expect(groupBytesOf(bytes, group.length)).toBeLessThanOrEqual(GROUP_BYTES_MAX)
          taken.push(...group)
          const next = items[taken.length]
          if (next !== undefined)
            expect(groupBytesOf(bytes + next.bytes.byteLength, group.length + 1)).toBeGreaterThan(
              GROUP_BYTES_MAX,
            )
        }
        expect(taken).toEqual(items)
      }),
      { numRuns: 30 },
    )
  })

  it('limits the entries of a group', () => {
    const queue = createEntryQueue()
    for (let index = 0; index <= GROUP_ENTRIES_MAX; index++) queue.push(waiting(1))
    expect(queue.takeGroup()).toHaveLength(GROUP_ENTRIES_MAX)
    expect(queue.takeGroup()).toHaveLength(1)
    expect(queue.takeGroup()).toHaveLength(0)
  })

  it('refuses entries beyond its bounds, and accepts entries again after a group was taken', () => {
    const queue = createEntryQueue()
    let count = 0
    while (queue.push(waiting(256 * 1024, `sender ${count}`))) count++
    expect(count).toBe(61)
    queue.takeGroup()
    expect(queue.push(waiting(256 * 1024))).toBe(true)
    expect(queue.takeAll().length).toBeGreaterThan(0)
    let small = 0
    while (queue.push(waiting(1, `sender ${small}`))) small++
    expect(small).toBe(16 * GROUP_ENTRIES_MAX - 3)
  })

  it('one sender leaves room for others, in entries and in bytes', () => {
    for (const [size, share] of [
      [1, 1600],
      [256 * 1024, 13],
    ] as const) {
      const queue = createEntryQueue()
      let count = 0
      while (queue.push(waiting(size, 'greedy'))) count++
      expect(count).toBe(share)
      expect(queue.push(waiting(size, 'modest'))).toBe(true)
      queue.takeAll()
      expect(queue.push(waiting(size, 'greedy'))).toBe(true)
    }
  })

  it('detects an entry that fits into no group', () => {
    const largest = GROUP_BYTES_MAX - groupBytesOf(0, 1)
    expect(fitsIntoGroup(new Uint8Array(largest))).toBe(true)
    expect(fitsIntoGroup(new Uint8Array(largest + 1))).toBe(false)
  })
})
