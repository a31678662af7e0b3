/** The validator's own word on history, which the reader holds against the nodes' (D-38). */
import { isScanError } from '@quorumscan/errors'
import type { Replica } from '@quorumscan/replica'

/** Null where the replica has not come yet, or holds no more: then it has no say. */
export function localHistoryHash(
  replica: Pick<Replica, 'head' | 'pin'>,
): (offset: number) => Promise<string | null> {
  return async (offset) => {
    if (offset > replica.head().offset) return null
    try {
      return (await replica.pin(offset, AbortSignal.timeout(PIN_MS_MAX))).historyHash
    } catch (error) {
      if (isScanError(error)) return null
      throw error
    }
  }
}

/** A pin below the head is answered from memory; a replica that takes longer is not worth waiting for. */
const PIN_MS_MAX = 250
