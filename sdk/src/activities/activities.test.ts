/** How a stream of activities continues, against a scripted source. */
import type { CertifiedQuery } from '@quorumscan/reader/certified'
import { expect, it } from 'vitest'
import { QuorumscanError } from '../errors.ts'
import { createBounded, type LookupSource, type SourceRead } from '../names/bounded.ts'
import { systemClock } from '../platform/clock.ts'
import { createLocalStorageStore, type WebStorage } from '../platform/store.ts'
import { createActivities } from './activities.ts'
import type { ActivityHints } from './activity-hints.ts'

const idOf = (index: number) => `${String(index).padStart(16, '0')}:0000`
const rowOf = (index: number) => ({ event_id: idOf(index) })
const ROWS = [1, 2, 3, 4, 5].map(rowOf)

/** Pages of the rows; `asked` says after which row each was asked for. */
function world(fail: (page: number) => QuorumscanError | null = () => null, hints?: ActivityHints) {
  const asked: (string | null)[] = []
  const floors: number[] = []
  const read = async (
    { request }: CertifiedQuery<unknown>,
    { minOffset = 0, statedOffset = 0 }: SourceRead,
  ) => {
    const { begin_after_id: after, page_size: size } = request.parameters as {
      begin_after_id: string | null
      page_size: number
    }
    asked.push(after)
    floors.push(Math.max(minOffset, statedOffset))
    const error = fail(asked.length)
    if (error !== null) throw error
    const activities = ROWS.filter((row) => after === null || row.event_id > after).slice(0, size)
    return {
      kind: 'verified',
      answer: { activities },
      offset: 9,
      recordTime: 1,
      receipt: null,
      threshold: 2,
      nodeCount: 4,
      trust: null,
      agreed: [],
      dissented: [],
    } as const
  }
  // Reads ROWS, without a validator.
  const clock = { ...systemClock, delay: (_: number, signal?: AbortSignal) => never(signal) }
  const live = hints && { hints, pauseMs: () => 0 }
  const reads = {
    read: read as unknown as LookupSource['read'],
    clock,
    bounded: createBounded({ clock, timeoutMs: 1000 }),
  }
  return { asked, floors, activities: createActivities(reads, live) }
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

it('activities continue from the checkpoint in localStorage, the processed position', async () => {
  const storage = createWebStorage()
  const { activities, asked } = world()
  const collect = async (count: number) => {
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
  expect(await collect(3)).toEqual([1, 2, 3].map(idOf))
  expect(storage.values.get('coin')).toBe(idOf(2))
  expect(await collect(9)).toEqual([3, 4, 5].map(idOf))
  expect(storage.values.get('coin')).toBe(idOf(5))
  expect(asked).toEqual([null, idOf(2), idOf(2), idOf(4), idOf(5)])
})

it('activities continue after the last row when a failure is transient', async () => {
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

it('activities continue when the validator announces a newer offset', async () => {
  const later = [6, 7].map(rowOf)
  let opened = 0
  const { activities, asked, floors } = world(undefined, async function* () {
    opened++
    ROWS.push(...later.slice(0, 1))
    yield 12
    // No row is new at this offset, so the read finds none.
    yield 13
    ROWS.push(...later.slice(1))
    yield 20
    throw new Error('the consumer has left')
  })
  const ids: string[] = []
  for await (const { eventId } of activities({ pageSize: 9, follow: true, minOffset: 3 })) {
    ids.push(eventId)
    if (ids.length === 7) break
  }
  ROWS.splice(5)
  expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7].map(idOf))
  expect(asked).toEqual([null, ...[5, 5, 6, 6, 6].map(idOf)])
  // No read asks for less than the announced offset or the offset of the page before.
  expect(floors).toEqual([3, 9, 12, 12, 13, 20])
  expect(opened).toBe(1)
})

it('activities continue after the last row when the connection is lost or none opens', async () => {
  const lost = new QuorumscanError('lost', {
    code: 'NETWORK_ERROR',
    definite: true,
    retryable: true,
  })
  let opened = 0
  const { activities } = world(undefined, async function* () {
    if (++opened === 1) throw lost
    if (opened === 3) ROWS.push(rowOf(6))
    // No socket opens.
    yield* []
  })
  const ids: string[] = []
  for await (const { eventId } of activities({ follow: true })) {
    ids.push(eventId)
    if (ids.length === 6) break
  }
  ROWS.splice(5)
  expect(ids).toEqual([1, 2, 3, 4, 5, 6].map(idOf))
  expect(opened).toBe(3)
})
