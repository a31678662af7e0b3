/** Plans the additions of a batch to the history of updates, where the app stores one. */
import { concatBytes, fromHex, utf8 } from '@quorumscan/base'
import type { CommandSink } from '../storage/commands.ts'
import { KEYS } from '../storage/keys.ts'
import type { StoredUpdate } from '../storage/update-codec.ts'
import type { Step } from './step.ts'

/** Bytes of a hash that a tag holds: candidates are compared as a whole. */
export const UPDATE_TAG_BYTES = 8
const HASH_DIGITS = 64
/** Field of `history`: the offset up to which the history is complete. */
export const THROUGH_FIELD = 'through'
/** Field of `history`: the offset up to which updates were pruned or never written. Reads begin after it. */
export const PRUNED_FIELD = 'pruned'

export function planUpdates(commands: CommandSink, steps: readonly Step[]): void {
  const last = steps.at(-1)
  if (last?.update === undefined) return
  for (const { update } of steps) {
    if (update == null) continue
    commands.addWhole('XADD', KEYS.updates, utf8(`${update.offset}-0`), 'u', update.bytes)
    for (const member of tagMembers(update)) commands.add('ZADD', KEYS.updateTags, 0, member)
  }
  commands.addWhole('HSET', KEYS.history, THROUGH_FIELD, last.offset)
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
