/**
 * Deletes rows of the activity history, and notices, that are not visible at any readable offset, in bounded passes. A
 * row of offset M is deleted when T(M) + retention ≤ T(horizon), as every readable offset is as late (D-25). The newest
 * of these rows stays until the next one is deleted: a proof uses it to show that no row lies in between.
 */
import { assert } from '@quorumscan/base'
import type { Micros } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import type { Redis } from 'ioredis'
import { expiredUntil } from '../reads/activity-reads.ts'
import { activityPartyMember, decodeActivity } from '../storage/activity-member.ts'
import { dropTiles } from '../storage/activity-tiles.ts'
import { createGatheredCommands } from '../storage/commands.ts'
import { lexBound } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'
import { type HeadState, writeFenced } from '../storage/store.ts'

/** Rows, and notices, per pass: about 2 ms of Redis each, which reads wait for. */
export const ACTIVITY_CLEAN_UP_PORTION = 200

/**
 * One pass. `done` if nothing is left to delete, `fenced` if another process wrote. The head does not change: deleting
 * twice has no effect, so two writers may do it, and a pass of unknown outcome is repeated with the next batch.
 */
export async function cleanUpActivities(
  redis: Redis,
  headState: HeadState,
  options: {
    readonly genesis: Genesis
    /** Rows that were visible at this record time are not deleted; null for no such limit. */
    readonly retainFrom?: Micros | null
    readonly signal: AbortSignal
  },
): Promise<'done' | 'more' | 'fenced'> {
  const { genesis, retainFrom, signal } = options
  const horizon = headState.timeline.at(headState.head.horizon)
  assert(horizon !== undefined, 'the horizon is in the timeline')
  const { recordTime } = horizon
  const until = expiredUntil(genesis, Math.min(recordTime, retainFrom ?? recordTime))
  if (until === null) return 'done'
  const times = KEYS.activityTimes
  const [oldest, [firstKept]] = await Promise.all([
    redis.zrangebyscoreBuffer(times, '-inf', until, 'LIMIT', 0, 1),
    redis.zrangebyscoreBuffer(times, `(${until}`, '+inf', 'LIMIT', 0, 1),
  ])
  if (oldest.length === 0) return 'done'
  const max = firstKept === undefined ? '+' : lexBound('(', firstKept)
  const readFirst = (key: string, count: number) =>
    redis.zrangebylexBuffer(key, '-', max, 'LIMIT', 0, count)
  const [rows, notices] = await Promise.all([
    readFirst(KEYS.activities, ACTIVITY_CLEAN_UP_PORTION + 1),
    readFirst(KEYS.notices, ACTIVITY_CLEAN_UP_PORTION),
  ])
  const activities = rows.slice(0, -1)
  const portions = [activities, notices].map((members) => members.map(decodeActivity))
  const cut = portions.filter((portion) => portion.length === ACTIVITY_CLEAN_UP_PORTION)
  const isWhole = cut.length === 0
  // The offset of the last row may have more rows. Its time is deleted with them.
  const timesUntil = isWhole
    ? until
    : `(${Math.min(...cut.map((portion) => portion.at(-1)?.recordTime ?? 0))}`
  const commands = createGatheredCommands()
  for (const member of activities) commands.add('ZREM', KEYS.activities, member)
  for (const member of notices) commands.add('ZREM', KEYS.notices, member)
  for (const { eventId, tags } of portions.flat())
    for (const tag of tags)
      commands.add('ZREM', KEYS.activityParties, activityPartyMember(tag, eventId))
  commands.addWhole('ZREMRANGEBYSCORE', KEYS.activityTimes, '-inf', timesUntil)
  // Tiles that hold only rows before the one that stays.
  const [first, last] = [rows[0], rows.at(-1)].map((row) => row && decodeActivity(row).index)
  if (first != null && last != null) dropTiles(commands, { from: first, before: last })
  const { head } = headState
  if ((await writeFenced(redis, headState, { head, commands, signal })) === 'fenced')
    return 'fenced'
  return isWhole ? 'done' : 'more'
}
