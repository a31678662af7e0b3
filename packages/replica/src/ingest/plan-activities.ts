/** What a batch adds to the activity history (D-24) and to notices: rows, who they belong to, and when they were. */
import { utf8 } from '@quorumscan/base'
import { activityPartyMember, encodeActivity, offsetText } from '../storage/activity-member.ts'
import { tagOf } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'
import { type Command, cutCommand } from '../storage/scripts.ts'
import type { Step } from './step.ts'

export function planActivities(steps: readonly Step[]): Command[] {
  const rows = steps.flatMap((step) => step.activities ?? [])
  const notices = steps.flatMap((step) => step.notices ?? [])
  const offsets = steps.filter(
    ({ activities = [], notices = [] }) => activities.length + notices.length > 0,
  )
  return [
    ...cutCommand(
      'ZADD',
      KEYS.activities,
      rows.map((row) => [0, encodeActivity(row)]),
    ),
    ...cutCommand(
      'ZADD',
      KEYS.notices,
      notices.map((row) => [0, encodeActivity(row)]),
    ),
    ...cutCommand(
      'ZADD',
      KEYS.activityParties,
      [...rows, ...notices].flatMap(({ activity, parties }) =>
        parties.map((party) => [0, activityPartyMember(tagOf(party), activity.event_id)]),
      ),
    ),
    ...cutCommand(
      'ZADD',
      KEYS.activityTimes,
      offsets.map((step) => [step.recordTime, utf8(offsetText(step.offset))]),
    ),
  ]
}
