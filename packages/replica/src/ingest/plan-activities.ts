/** What a batch adds to the activity history (D-24) and to notices: rows, who they belong to, and when they were. */
import { sha256, utf8 } from '@quorumscan/base'
import { append, type Frontier } from '@quorumscan/verifier/state-tree'
import { activityPartyMember, encodeActivity, offsetText } from '../storage/activity-member.ts'
import { putTiles, type WholeSubtree } from '../storage/activity-tiles.ts'
import type { CommandSink } from '../storage/commands.ts'
import { tagOf } from '../storage/intern.ts'
import { KEYS } from '../storage/keys.ts'
import type { Step } from './step.ts'

/** Returns the activity tree after the batch. @param before - The one before it. */
export function planActivities(
  commands: CommandSink,
  steps: readonly Step[],
  before: Frontier,
): Frontier {
  let frontier = before
  const whole: WholeSubtree[] = []
  for (const { activities = [], notices = [], recordTime, offset } of steps) {
    for (const row of activities) {
      const member = encodeActivity(row, { recordTime, index: frontier.size })
      commands.add('ZADD', KEYS.activities, 0, member)
      frontier = append(frontier, row.leafHash, sha256, (subtree, hash) =>
        whole.push({ subtree, hash }),
      )
    }
    for (const row of notices)
      commands.add('ZADD', KEYS.notices, 0, encodeActivity(row, { recordTime, index: null }))
    for (const { activity, parties } of [...activities, ...notices])
      for (const party of parties) {
        const member = activityPartyMember(tagOf(party), activity.event_id)
        commands.add('ZADD', KEYS.activityParties, 0, member)
      }
    if (activities.length + notices.length > 0)
      commands.add('ZADD', KEYS.activityTimes, recordTime, utf8(offsetText(offset)))
  }
  putTiles(commands, whole)
  return frontier
}
