/** What a batch adds to the history of updates, where the app asks for one. */
import { concatBytes, fromHex, utf8 } from '@quorumscan/base'
import type { Offset } from '@quorumscan/model'
import { KEYS } from '../storage/keys.ts'
import { type Command, cutCommand } from '../storage/scripts.ts'
import type { Step } from './step.ts'

/** Bytes of an update's hash that the index holds: candidates are compared as a whole. */
export const ID_PREFIX_BYTES = 8
/** Field of `history`: the offset up to which the history is complete. */
export const THROUGH_FIELD = 'through'
/** Field of `history`: what was pruned, or never written; reads begin after it. */
export const PRUNED_FIELD = 'pruned'

export function planUpdates(steps: readonly Step[]): Command[] {
  const last = steps.at(-1)
  if (last?.update === undefined) return []
  const updates = steps.flatMap(({ offset, update }) =>
    update === undefined || update === null ? [] : [{ offset, ...update }],
  )
  return [
    ...updates.map(
      ({ offset, bytes }): Command => ['XADD', KEYS.updates, utf8(`${offset}-0`), 'u', bytes],
    ),
    ...cutCommand(
      'ZADD',
      KEYS.updateIds,
      updates.map(({ offset, updateId }) => [0, idMember(updateId, offset)]),
    ),
    ['HSET', KEYS.history, THROUGH_FIELD, last.offset],
  ]
}

/** A member of `updateIds`. */
export function idMember(updateId: string, offset: Offset): Uint8Array {
  return concatBytes([idPrefix(updateId), utf8(String(offset))])
}

/** @param updateId - `1220` and 64 hex digits. */
export function idPrefix(updateId: string): Uint8Array {
  return fromHex(updateId.slice(4)).subarray(0, ID_PREFIX_BYTES)
}
