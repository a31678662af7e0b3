/**
 * Plans the additions of a batch to the two histories: rows of the activity history (D-24) and notices with their parties
 * and times, and updates where the app stores a history of them.
 */
import { concatBytes, fromHex, sha256, utf8 } from '@quorumscan/base'
import type { Contract } from '@quorumscan/model'
import { append, type Frontier } from '@quorumscan/verifier/state-tree'
import {
  activityPartyMember,
  encodeActivity,
  offsetTextOf,
  type StoredActivity,
} from './activity-member.ts'
import { putTiles, type WholeSubtree } from './activity-tiles.ts'
import { archivalMembers } from './archivals.ts'
import type { CommandSink } from './commands.ts'
import { KEYS } from './keys.ts'
import type { Step } from './step.ts'
import type { StoredUpdate } from './update-codec.ts'

/** Returns the activity tree after the batch. @param before - The one before it. */
export function planActivities(commands: CommandSink, steps: readonly Step[], before: Frontier) {
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

/** Bytes of a hash that a tag holds: candidates are compared as a whole. */
export const UPDATE_TAG_BYTES = 8
const HASH_DIGITS = 64
/** Field of `history`: the offset up to which the history is complete. */
export const THROUGH_FIELD = 'through'
/** Field of `history`: the offset up to which updates were pruned or never written. Reads begin after it. */
export const PRUNED_FIELD = 'pruned'
/** Field of `history`: the offset up to which the index of archivals is complete. */
export const ARCHIVALS_FIELD = 'archivals'

export function planUpdates(commands: CommandSink, steps: readonly Step[]): void {
  const last = steps.at(-1)
  if (last?.update === undefined) return
  for (const { update, delta } of steps) {
    if (update == null) continue
    commands.addWhole('XADD', KEYS.updates, utf8(`${update.offset}-0`), 'u', update.bytes)
    for (const member of tagMembers(update)) commands.add('ZADD', KEYS.updateTags, 0, member)
    putArchivals(commands, update, delta.archived)
  }
  const { offset } = last
  commands.addWhole('HSET', KEYS.history, THROUGH_FIELD, offset, ARCHIVALS_FIELD, offset)
}

/** Adds an update to the index of archivals. @param archived - Contracts of earlier updates that it archived. */
export function putArchivals(
  commands: CommandSink,
  { offset }: Pick<StoredUpdate, 'offset'>,
  archived: readonly Contract[],
): void {
  for (const { key, member } of archivalMembers(archived, offset))
    commands.add('ZADD', key, 0, member)
}

/** Members of `updateTags`, by which the update is found. */
export function tagMembers(update: StoredUpdate): readonly Uint8Array[] {
  const offset = utf8(String(update.offset))
  return [update.updateId, ...update.archivedIds()].map((id) =>
    concatBytes([updateTag(id), offset]),
  )
}

/** @param id - Of an update or a contract: 64 hex digits end it. */
export function updateTag(id: string): Uint8Array {
  return fromHex(id.slice(-HASH_DIGITS)).subarray(0, UPDATE_TAG_BYTES)
}
