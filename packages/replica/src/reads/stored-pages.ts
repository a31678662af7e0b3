/**
 * Pages of entries at the offset that was read last. Clients that read a list by votes ask several nodes for its pages at
 * one offset.
 */
import { bytesOfCache, held } from '@quorumscan/base'
import { LRUCache } from 'lru-cache'
import type { TimelineEntry } from '../storage/timeline.ts'
import type { NamedBody } from './reads.ts'

/** A dozen pages of a thousand entries, with the objects of their rows. */
const BYTES_MAX = 8 * 2 ** 20
/** The memory of the objects of one row. */
const ROW_OVERHEAD_BYTES = 256

type Rows = readonly NamedBody[]

export function createStoredPages() {
  let readAt: TimelineEntry | null = null
  const pages = held(
    { owner: 'replica', name: 'bytes of cached pages', kind: 'cache', bound: BYTES_MAX },
    new LRUCache<string, Rows>({
      maxSize: BYTES_MAX,
      sizeCalculation: (rows, key) =>
        rows.reduce((sum, { body }) => sum + ROW_OVERHEAD_BYTES + body.byteLength, key.length + 1),
    }),
    bytesOfCache,
  )
  /** The page with this key, read if it is not stored. The position is an object that stands for one loaded state. */
  return async (position: TimelineEntry, key: string, read: () => Promise<Rows>): Promise<Rows> => {
    if (position !== readAt) pages.clear()
    readAt = position
    const stored = pages.get(key)
    if (stored !== undefined) return stored
    const rows = await read()
    if (position === readAt) pages.set(key, rows)
    return rows
  }
}
