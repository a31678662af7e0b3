/** Proves pages of the activity history at a recent state. Each row is compared with the tree before it is returned. */
import { fromUtf8, sha256, toBase64, toHex } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { Genesis } from '@quorumscan/verifier'
import {
  type ActivityRun,
  joinSubtrees,
  type ShownRow,
  subtreesOf,
  type VerifiedRun,
  verifyRun,
  walkToRun,
} from '@quorumscan/verifier/state-tree'
import type { Redis } from 'ioredis'
import { reach } from '../connection.ts'
import { type ActivityPage, readActivities, readNeighbors } from '../reads/activity-reads.ts'
import { assertReadable } from '../reads/reads.ts'
import { type StoredActivity, treeIndexOf } from '../storage/activity-member.ts'
import { readTiles } from '../storage/activity-tiles.ts'
import type { RecentState } from './state-history.ts'
import { type StateTreeUpdater, stateDiverged } from './tree-updater.ts'

type Stored = { readonly redis: Redis; readonly genesis: Genesis }
type Page = Omit<ActivityPage, 'party'>

/**
 * The run of rows that a page is.
 *
 * @throws {ScanError} As all reads; STATE_DIVERGED if the stored rows differ from the log.
 */
export async function proveActivities(
  context: Stored & { readonly treeUpdater: StateTreeUpdater },
  recent: RecentState,
  page: Page,
): Promise<VerifiedRun> {
  try {
    return await readRun(context, recent, page)
  } catch (error) {
    if (error instanceof ScanError) throw error
    const divergence = {
      offset: recent.point.offset,
      what: `The activities ${page.order === 'asc' ? 'after' : 'before'} ${page.after ?? 'the first'} differ.`,
    }
    context.treeUpdater.diverge(divergence)
    throw stateDiverged(divergence, error)
  }
}

/** @throws An error other than `ScanError` if the stored rows differ from the tree. */
async function readRun(
  { redis, genesis }: Stored,
  { point, activities: { size, peaks } }: RecentState,
  page: Page,
): Promise<VerifiedRun> {
  const found = await readActivities(redis, page, point, genesis)
  const rows = page.order === 'asc' ? found : found.reverse()
  const { before, after } = await readNeighbors(redis, page, { rows, position: point, genesis })
  const first = rows[0] === undefined ? placeAfter(before) : treeIndexOf(rows[0])
  const edge = (row: StoredActivity | null) => (row === null ? [] : [neighbor(row)])
  const shown = [...edge(before), ...rows.map(showRow), ...edge(after)]
  const from = first - Number(before !== null)
  const cut: { readonly start: number; readonly count: number }[] = []
  const outside = (start: number, count: number) => void cut.push({ start, count })
  const place = { first: from, end: from + shown.length, size }
  if (size > 0) walkToRun(place, { leaf: () => {}, outside, pair: () => {} })
  const subtrees = cut.map(({ start, count }) => subtreesOf(start, count))
  const tiles = await reach(readTiles(redis, subtrees.flat()))
  assertReadable(tiles.head, point)
  const hashes = subtrees.map((parts) => joinSubtrees(parts.map(tiles.hashOf), sha256))
  const run: ActivityRun = { first, hashes: hashes.map(toBase64), rows: shown }
  return verifyRun(run, { size, root: toHex(joinSubtrees(peaks, sha256)) }, sha256)
}

function placeAfter(before: StoredActivity | null): number {
  return before === null ? 0 : treeIndexOf(before) + 1
}

function showRow({ eventId, recordTime, body }: StoredActivity): ShownRow {
  return { event_id: eventId, record_time: recordTime, row: fromUtf8(body) }
}

function neighbor({ eventId, recordTime, body }: StoredActivity): ShownRow {
  return { event_id: eventId, record_time: recordTime, row_hash: toBase64(sha256(body)) }
}
