/** The validator's own word on history, which the reader holds against the nodes' (D-38). */
import { isScanError } from '@quorumscan/errors'
import type { Replica } from '@quorumscan/replica'

/** Pins at or below the head are answered at once: there is no wait to abort. */
const never = new AbortController().signal

/** Null where the replica has not come yet, or holds no more: then it has no say. */
export function localHistoryHash(
  replica: Pick<Replica, 'head' | 'pin'>,
): (offset: number) => Promise<string | null> {
  return async (offset) => {
    if (offset > replica.head().offset) return null
    try {
      return (await replica.pin(offset, never)).historyHash
    } catch (error) {
      if (isScanError(error)) return null
      throw error
    }
  }
}
