/**
 * Pages of the activity history at an offset (D-25). A row of offset M is visible at N when M ≤ N and
 * T(M) + retention > T(N), with the retention of the genesis. The clean-up has no influence.
 *
 * A page takes several commands. Each returns the head. While the head has reached N, and the horizon has not
 * passed it, the visible rows are the same.
 */
import { assert, utf8 } from '@quorumscan/base'
import { type HistoryStep, isNoticeId } from '@quorumscan/ledger'
import type { LogPosition, Micros, PartyId } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import {
  boundAfter,
  boundBefore,
  boundsOfOffsets,
  boundsOfRow,
  decodeActivity,
  eventIdOfPartyMember,
  offsetText,
  type StoredActivity,
} from '../storage/activity-member.ts'
import { type Argument, toRedis } from '../storage/commands.ts'
import { readWithHead } from '../storage/head-reads.ts'
import { type Bounds, lexBound, tagOf } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'
import { assertReadable } from './reads.ts'

export type ActivityPage = {
  /** An event id as exclusive bound, below the page for `asc`, above it for `desc`; null for none. */
  readonly after: string | null
  readonly limit: number
  readonly order: 'asc' | 'desc'
  /** Only rows that belong to this party's own history, notices among them. */
  readonly party?: PartyId
}

/** JSON of one row, ready to be sent: of an `Activity`, or of a `Notice` (`isNoticeId`). */
export type ActivityBody = {
  readonly eventId: string
  readonly step: HistoryStep
  readonly body: Uint8Array
}

/**
 * A page ends early where its rows exceed this, so that no answer outgrows what readers take (8 MiB):
 * a usual row has 1 kB, but a transfer to 100 parties has 45.
 */
export const ACTIVITY_PAGE_BYTES_MAX = 4 * 1024 * 1024
/** Rows per command: 4.5 MB of the largest, 100 kB of usual ones. */
const PORTION = 100

/** The record time up to which rows have expired at a record time; null if no row can have expired. */
export function expiredUntil(genesis: Genesis, recordTime: Micros): Micros | null {
  const until = recordTime - genesis.activityRetentionMicros
  return until > genesis.recordTime ? until : null
}

/** Rows in the requested order, at most `limit`, at most `ACTIVITY_PAGE_BYTES_MAX`, at least one if there is one. */
export async function readActivities(
  redis: Redis,
  page: ActivityPage,
  position: LogPosition,
  genesis: Genesis,
): Promise<StoredActivity[]> {
  const first = await firstVisible(redis, position, genesis)
  if (first === null) return []
  const key = page.party === undefined ? 'activities' : 'activityParties'
  const prefix = page.party === undefined ? new Uint8Array(0) : tagOf(page.party)
  let bounds = boundsOfPage(prefix, page, { first, last: position.offset })
  const found: StoredActivity[] = []
  let bytes = 0
  while (found.length < page.limit) {
    const count = Math.min(page.limit - found.length, PORTION)
    const query = { bounds, count, order: page.order }
    const rows = await readRows(redis, key, { query, position })
    for (const row of rows) {
      bytes += row.body.byteLength
      if (bytes > ACTIVITY_PAGE_BYTES_MAX && found.length > 0) return found
      found.push(row)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < count) break
    bounds =
      page.order === 'asc'
        ? { ...bounds, min: boundAfter(prefix, last.eventId) }
        : { ...bounds, max: boundBefore(prefix, last.eventId) }
  }
  return found
}

/** The oldest offset whose rows are visible, as in event ids; null if no row can be. */
async function firstVisible(redis: Redis, position: LogPosition, genesis: Genesis) {
  const until = expiredUntil(genesis, position.recordTime)
  if (until === null) return offsetText(0)
  const range = [`(${until}`, '+inf', 'BYSCORE', 'LIMIT', 0, 1]
  const [members] = await readTogether(redis, [[KEYS.activityTimes, ...range]], position)
  return members?.[0]?.toString('latin1') ?? null
}

/** The rows of the whole history before and after a page; null at the beginning and at the end of the history. */
export async function readNeighbors(
  redis: Redis,
  page: Pick<ActivityPage, 'order'>,
  found: {
    readonly rows: readonly StoredActivity[]
    readonly position: LogPosition
    readonly genesis: Genesis
  },
): Promise<{ readonly before: StoredActivity | null; readonly after: StoredActivity | null }> {
  const { rows, position, genesis } = found
  const end = offsetText(position.offset + 1)
  const ids = rows.map(({ eventId }) => eventId).sort()
  // An empty page is at an end of the history: at the position, or before the visible rows.
  const isAtBeginning = rows.length === 0 && page.order === 'desc'
  const edge = (isAtBeginning ? await firstVisible(redis, position, genesis) : null) ?? end
  const all = new Uint8Array(0)
  const [first = edge] = ids
  const last = ids.at(-1)
  const toFirst = { min: utf8('-'), max: boundBefore(all, first) }
  const min = last === undefined ? lexBound('[', utf8(edge)) : boundAfter(all, last)
  const fromLast = { min, max: boundBefore(all, end) }
  const neighbors = await readTogether(
    redis,
    [
      rangeOf('activities', { bounds: toFirst, count: 1, order: 'desc' }),
      rangeOf('activities', { bounds: fromLast, count: 1, order: 'asc' }),
    ],
    position,
  )
  const [left = null, right = null] = neighbors.map(([row]) =>
    row === undefined ? null : decodeActivity(row),
  )
  return { before: left, after: right }
}

function boundsOfPage(
  prefix: Uint8Array,
  page: ActivityPage,
  range: { readonly first: string; readonly last: number },
): Bounds {
  const { after, order } = page
  const bounds = boundsOfOffsets(prefix, range)
  if (after === null) return bounds
  // Event ids are ASCII, where comparing texts is comparing bytes.
  if (order === 'asc')
    return after < range.first ? bounds : { ...bounds, min: boundAfter(prefix, after) }
  return after > offsetText(range.last + 1)
    ? bounds
    : { ...bounds, max: boundBefore(prefix, after) }
}

type RowQuery = { readonly bounds: Bounds; readonly count: number; readonly order: 'asc' | 'desc' }

/** Rows of the whole history, or of a party's history, whose members name rows and notices. */
async function readRows(
  redis: Redis,
  key: 'activities' | 'activityParties',
  { query, position }: { readonly query: RowQuery; readonly position: LogPosition },
): Promise<StoredActivity[]> {
  const [members = []] = await readTogether(redis, [rangeOf(key, query)], position)
  if (key === 'activities') return members.map(decodeActivity)
  if (members.length === 0) return []
  const ranges = members.map((member) => {
    const eventId = eventIdOfPartyMember(member)
    const row = { bounds: boundsOfRow(eventId), count: 1, order: 'asc' } as const
    return rangeOf(isNoticeId(eventId) ? 'notices' : 'activities', row)
  })
  return (await readTogether(redis, ranges, position)).map(([row]) => {
    assert(row !== undefined, 'a visible row exists as long as its offset can be read')
    return decodeActivity(row)
  })
}

function rangeOf(key: 'activities' | 'notices' | 'activityParties', query: RowQuery): Argument[] {
  const { min, max } = query.bounds
  const ends = query.order === 'asc' ? [min, max] : [max, min]
  const order = query.order === 'asc' ? [] : ['REV']
  return [KEYS[key], ...ends, 'BYLEX', ...order, 'LIMIT', 0, query.count]
}

/** Runs several ZRANGE in one transaction. @throws {ScanError} Unless the replica is readable at the position. */
async function readTogether(
  redis: Redis,
  ranges: readonly (readonly Argument[])[],
  position: LogPosition,
): Promise<Buffer[][]> {
  const reading = readWithHead<Buffer[][]>(redis, (transaction) => {
    for (const range of ranges) transaction.callBuffer('ZRANGE', range.map(toRedis))
  })
  const { head, replies } = await reach(reading)
  assertReadable(head, position)
  return replies
}
