/**
 * Takes rows out of the activity history, and notices, that no readable offset can show, in bounded passes. A row of
 * offset M goes when T(M) + retention ≤ T(horizon): every offset that can be read is as late (D-25).
 */
import { assert } from '@quorumscan/base'
import { parseTime } from '@quorumscan/model'
import type { Redis } from 'ioredis'
import { type Mirror, writeFenced } from '../ingest/store.ts'
import type { ActivityRules } from '../reads/activity-reads.ts'
import { activityPartyMember, decodeActivity } from '../storage/activity-member.ts'
import { encodeHead } from '../storage/head.ts'
import { lexBound } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'
import { cutCommand } from '../storage/scripts.ts'

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
  options: { readonly rules: ActivityRules; readonly signal: AbortSignal },
): Promise<ActivityCleanUp> {
  const { rules, signal } = options
  const horizon = mirror.timeline.at(mirror.head.horizon)
  assert(horizon !== undefined, 'the horizon has its instant')
  const goneUntil = horizon.recordTime - rules.retentionMicros
  if (goneUntil <= rules.genesisTime) return 'done'
  const times = KEYS.activityTimes
  const [oldest, [firstKept]] = await Promise.all([
    redis.zrangebyscoreBuffer(times, '-inf', goneUntil, 'LIMIT', 0, 1),
    redis.zrangebyscoreBuffer(times, `(${goneUntil}`, '+inf', 'LIMIT', 0, 1),
  ])
  if (oldest.length === 0) return 'done'
  const max = firstKept === undefined ? '+' : Buffer.from(lexBound('(', firstKept))
  const [activities, notices] = await Promise.all(
    [KEYS.activities, KEYS.notices].map((key) =>
      redis.zrangebylexBuffer(key, '-', max, 'LIMIT', 0, ACTIVITY_CLEAN_UP_PORTION),
    ),
  )
  assert(activities !== undefined && notices !== undefined, 'each was read')
  const portions = [activities, notices].map((members) => members.map(decodeActivity))
  const cut = portions.filter((rows) => rows.length === ACTIVITY_CLEAN_UP_PORTION)
  const isWhole = cut.length === 0
  // The offset of a last row may have more of them: its time goes when they have gone.
  const timesUntil = isWhole
    ? goneUntil
    : `(${Math.min(...cut.map((rows) => timeOf(rows.at(-1)?.body)))}`
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
    ],
    signal,
  })
  if (outcome === 'fenced') return 'fenced'
  return isWhole ? 'done' : 'more'
}

function timeOf(body: Uint8Array | undefined): number {
  assert(body !== undefined, 'a full portion has a last row')
  const { date } = JSON.parse(Buffer.from(body).toString('utf8')) as { date: string }
  const time = parseTime(date)
  assert(time !== undefined, 'a row has the record time of its offset')
  return time
}
