/** Plans the additions of a batch to the activity history (D-24) and to notices: rows, their parties and their times. */
import { sha256, utf8 } from '@quorumscan/base'
import { append, type Frontier } from '@quorumscan/verifier/state-tree'
import {
  activityPartyMember,
  encodeActivity,
  offsetTextOf,
  type StoredActivity,
} from '../storage/activity-member.ts'
import { putTiles, type WholeSubtree } from '../storage/activity-tiles.ts'
import type { CommandSink } from '../storage/commands.ts'
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
  for (const { activities = [], notices = [] } of steps) {
    for (const row of activities) {
      putRow(commands, 'activities', encodeActivity({ ...row, index: frontier.size }), row)
      frontier = append(frontier, row.leafHash, sha256, (subtree, hash) =>
        whole.push({ subtree, hash }),
      )
    }
    for (const row of notices) putRow(commands, 'notices', encodeActivity(row), row)
  }
  putTiles(commands, whole)
  return frontier
}

/** Stores a row, or a notice, with all by which it is found. */
export function putRow(
  commands: CommandSink,
  key: 'activities' | 'notices',
  member: Uint8Array,
  { eventId, recordTime, tags }: StoredActivity,
): void {
  commands.add('ZADD', KEYS[key], 0, member)
  for (const tag of tags)
    commands.add('ZADD', KEYS.activityParties, 0, activityPartyMember(tag, eventId))
  commands.add('ZADD', KEYS.activityTimes, recordTime, utf8(offsetTextOf(eventId)))
}
