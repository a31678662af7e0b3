/** How a stream of activities goes on, against a source told what to answer. */
import type { ReadRequest } from '@quorumscan/consensus'
import { expect, it } from 'vitest'
import { QuorumscanError } from '../errors.ts'
import type { LookupSource } from '../names/lookups.ts'
import { systemClock } from '../platform/clock.ts'
import { createLocalStorageStore, type WebStorage } from '../platform/store.ts'
import { createActivities } from './activities.ts'

const idOf = (index: number) => `${String(index).padStart(16, '0')}:0000`
const ROWS = [1, 2, 3, 4, 5].map((index) => ({ event_id: idOf(index) }))

/** Pages of the rows; `asked` says after which row each was asked for. */
function world(fail: (page: number) => QuorumscanError | null = () => null) {
  const asked: (string | null)[] = []
  const read = async (request: ReadRequest) => {
    const { begin_after_id: after, page_size: size } = request.parameters as {
      begin_after_id: string | null
      page_size: number
    }
    asked.push(after)
    const error = fail(asked.length)
    if (error !== null) throw error
    const activities = ROWS.filter((row) => after === null || row.event_id > after).slice(0, size)
    return {
      kind: 'verified',
      answer: { activities },
      ...{ offset: 9, recordTime: 1, receipt: null },
      ...{ threshold: 2, nodeCount: 4, agreed: [], dissented: [] },
    } as const
  }
  const source: LookupSource = {
    verifiedBy: 'self',
    storeKey: async (what) => what,
    lookup: async () => [],
    page: () => Promise.reject(new Error('no page is asked for')),
    read,
  }
  const clock = { ...systemClock, delay: (_: number, signal?: AbortSignal) => never(signal) }
  return { asked, activities: createActivities({ source, clock, timeoutMs: 1000, defaults: {} }) }
}

/** Deadlines do not pass here; pauses do, at once. */
function never(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal === undefined) resolve()
    else signal.addEventListener('abort', () => reject(signal.reason))
  })
}

/** What a page's `localStorage` is. */
function createWebStorage(): WebStorage & { readonly values: Map<string, string> } {
  const values = new Map<string, string>()
  return {
    values,
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => {
      values.set(key, value)
    },
  }
}

it('go on from the checkpoint in localStorage, which holds what the consumer is done with', async () => {
  const storage = createWebStorage()
  const { activities, asked } = world()
  const take = async (count: number) => {
    const ids: string[] = []
    // A store of its own each time, as after a reload of the page.
    const checkpoint = { store: createLocalStorageStore(storage), key: 'coin' }
    for await (const { eventId } of activities({ pageSize: 2, checkpoint })) {
      ids.push(eventId)
      if (ids.length === count) break
    }
    return ids
  }
  // The third was given, but the consumer left before it was done with it.
  expect(await take(3)).toEqual([1, 2, 3].map(idOf))
  expect(storage.values.get('coin')).toBe(idOf(2))
  expect(await take(9)).toEqual([3, 4, 5].map(idOf))
  expect(storage.values.get('coin')).toBe(idOf(5))
  expect(asked).toEqual([null, idOf(2), idOf(2), idOf(4), idOf(5)])
})

it('wait out what may pass while they follow, and go on after the last row', async () => {
  const lagging = new QuorumscanError('later', {
    code: 'CONSENSUS_LAGGING',
    definite: true,
    retryable: true,
  })
  const { activities, asked } = world((page) => (page === 2 ? lagging : null))
  const ids: string[] = []
  for await (const { eventId } of activities({ pageSize: 3, follow: true })) {
    ids.push(eventId)
    if (ids.length === ROWS.length) break
  }
  expect(ids).toEqual(ROWS.map((row) => row.event_id))
  expect(asked).toEqual([null, idOf(3), idOf(3)])
})
