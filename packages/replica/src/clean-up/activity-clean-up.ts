/**
 * Takes rows out of the activity history, and notices, that no readable offset can show, in bounded passes. A row of
 * offset M goes when T(M) + retention ≤ T(horizon): every offset that can be read is as late (D-25). The last one of
 * them stays until the next goes: beside it a proof shows that nothing lies between.
 */
import { assert } from '@quorumscan/base'
import type { Micros } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { type Mirror, writeFenced } from '../ingest/store.ts'
import type { ActivityRules } from '../reads/activity-reads.ts'
import { activityPartyMember, decodeActivity } from '../storage/activity-member.ts'
import { dropTiles } from '../storage/activity-tiles.ts'
import { type Command, cutCommand } from '../storage/commands.ts'
import { encodeHead } from '../storage/head.ts'
import { lexBound } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'

/** Rows, and notices, per pass: about 2 ms of Redis each, which reads wait for. */
export const ACTIVITY_CLEAN_UP_PORTION = 200

/** `done`: nothing is left that could go. `fenced`: somebody else wrote; load anew. */
export type ActivityCleanUp = 'done' | 'more' | 'fenced'

/**
 * One pass. It leaves the head as it is: taking out what is gone already changes nothing, so two writers
 * may do it, and a pass of unknown outcome is done again with the next batch.
 */
export async function cleanUpActivities(
  redis: Redis,
  mirror: Mirror,
  options: {
    readonly rules: ActivityRules
    /** What could be shown at this record time stays; null for none. */
    readonly held?: Micros | null
    readonly signal: AbortSignal
  },
): Promise<ActivityCleanUp> {
  const { rules, held, signal } = options
  const horizon = mirror.timeline.at(mirror.head.horizon)
  assert(horizon !== undefined, 'the horizon has its instant')
  const goneUntil = Math.min(horizon.recordTime, held ?? horizon.recordTime) - rules.retentionMicros
  if (goneUntil <= rules.genesisTime) return 'done'
  const times = KEYS.activityTimes
  const [oldest, [firstKept]] = await Promise.all([
    redis.zrangebyscoreBuffer(times, '-inf', goneUntil, 'LIMIT', 0, 1),
    redis.zrangebyscoreBuffer(times, `(${goneUntil}`, '+inf', 'LIMIT', 0, 1),
  ])
  if (oldest.length === 0) return 'done'
  const max = firstKept === undefined ? '+' : Buffer.from(lexBound('(', firstKept))
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
  // The offset of a last row may have more of them: its time goes when they have gone.
  const timesUntil = isWhole
    ? goneUntil
    : `(${Math.min(...cut.map((portion) => portion.at(-1)?.recordTime ?? 0))}`
  const head = encodeHead(mirror.head)
  const outcome = await writeFenced(redis, {
    expected: head,
    next: head,
    commands: [
      ...cutCommand(
        'ZREM',
        KEYS.activities,
        activities.map((member) => [member]),
      ),
      ...cutCommand(
        'ZREM',
        KEYS.notices,
        notices.map((member) => [member]),
      ),
      ...cutCommand(
        'ZREM',
        KEYS.activityParties,
        portions
          .flat()
          .flatMap(({ eventId, tags }) => tags.map((tag) => [activityPartyMember(tag, eventId)])),
      ),
      ['ZREMRANGEBYSCORE', KEYS.activityTimes, '-inf', timesUntil],
      ...dropTilesBefore(rows),
    ],
    signal,
  })
  if (outcome === 'fenced') return 'fenced'
  return isWhole ? 'done' : 'more'
}

/** The tiles that only rows before the one that stays have. */
function dropTilesBefore(rows: readonly Buffer[]): readonly Command[] {
  const [first, last] = [rows[0], rows.at(-1)].map((row) => row && decodeActivity(row).index)
  return first == null || last == null ? [] : dropTiles({ from: first, before: last })
}
