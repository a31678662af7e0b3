/** What a batch adds to the activity history (D-24) and to notices: rows, who they belong to, and when they were. */
import { sha256, utf8 } from '@quorumscan/base'
import { append, type Frontier, type Subtree } from '@quorumscan/verifier/state-tree'
import { activityPartyMember, encodeActivity, offsetText } from '../storage/activity-member.ts'
import { planTiles } from '../storage/activity-tiles.ts'
import { type Command, cutCommand } from '../storage/commands.ts'
import { tagOf } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'
import type { Step } from './step.ts'

/** @param before - The activity tree before the batch; `frontier` is the one after it. */
export function planActivities(
  steps: readonly Step[],
  before: Frontier,
): { readonly commands: readonly Command[]; readonly frontier: Frontier } {
  let frontier = before
  const rows: Uint8Array[] = []
  const notices: Uint8Array[] = []
  const whole: { subtree: Subtree; hash: Uint8Array }[] = []
  for (const { activities = [], notices: others = [], recordTime } of steps) {
    for (const row of activities) {
      rows.push(encodeActivity(row, { recordTime, index: frontier.size }))
      frontier = append(frontier, row.leafHash, sha256, (subtree, hash) =>
        whole.push({ subtree, hash }),
      )
    }
    for (const row of others) notices.push(encodeActivity(row, { recordTime, index: null }))
  }
  const offsets = steps.filter(
    ({ activities = [], notices = [] }) => activities.length + notices.length > 0,
  )
  const commands = [
    ...cutCommand(
      'ZADD',
      KEYS.activities,
      rows.map((member) => [0, member]),
    ),
    ...cutCommand(
      'ZADD',
      KEYS.notices,
      notices.map((member) => [0, member]),
    ),
    ...cutCommand(
      'ZADD',
      KEYS.activityParties,
      offsets
        .flatMap(({ activities = [], notices = [] }) => [...activities, ...notices])
        .flatMap(({ activity, parties }) =>
          parties.map((party) => [0, activityPartyMember(tagOf(party), activity.event_id)]),
        ),
    ),
    ...cutCommand(
      'ZADD',
      KEYS.activityTimes,
      offsets.map((step) => [step.recordTime, utf8(offsetText(step.offset))]),
    ),
    ...planTiles(whole),
  ]
  return { commands, frontier }
}
