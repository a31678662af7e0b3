/** Hashes of the recently ordered entries: ordering them again would fill the log without effect. */

import { held } from '@quorumscan/base'
import type { Micros } from '@quorumscan/model'
import { NOT_AFTER_MICROS_MAX } from '@quorumscan/verifier'

/** Ten minutes at 1 500 entries a second, some 200 MiB. One that was forgotten is ordered again: no harm. */
const REMEMBERED_MAX = 1_000_000

/** Remembers an entry until record time has passed every `notAfter` that it can have had. */
export function createOrderedHashes(rememberedMax = REMEMBERED_MAX) {
  /** The hashes in the order of their record times. */
  const recordTimeByHash = held(
    { owner: 'cometbft', name: 'hashes of ordered entries', kind: 'cache', bound: rememberedMax },
    new Map<string, Micros>(),
  )
  return {
    has: (entryHash: string) => recordTimeByHash.has(entryHash),
    /** Record times rise from call to call. */
    add(entryHash: string, recordTime: Micros): void {
      if (!recordTimeByHash.has(entryHash)) recordTimeByHash.set(entryHash, recordTime)
      for (const [oldest, at] of recordTimeByHash) {
        if (at >= recordTime - NOT_AFTER_MICROS_MAX && recordTimeByHash.size <= rememberedMax) break
        recordTimeByHash.delete(oldest)
      }
    },
  }
}
