/** What the local replica knows of history: whether the nodes hold the same (D-38), and whether a walk over pages has ended (D-11). */
import { isScanError, type ScanError } from '@quorumscan/errors'
import type { Offset, PagePosition } from '@quorumscan/model'
import type { Replica } from '@quorumscan/replica'
import { pageWalkExpired } from './outcome.ts'

type History = Pick<Replica, 'head' | 'pin'>

/** Pins at or below the head are answered at once: there is no wait to abort. */
const never = new AbortController().signal

/** Null where the replica has not come so far. @throws {ScanError} OFFSET_PRUNED below its horizon. */
async function pinAt(replica: History, offset: Offset) {
  return offset > replica.head().offset ? null : replica.pin(offset, never)
}

/** The history hash of the replica, which the reader compares with the nodes'. Null: the replica does not have it. */
export function localHistoryHash(replica: History): (offset: Offset) => Promise<string | null> {
  return async (offset) => {
    try {
      return (await pinAt(replica, offset))?.historyHash ?? null
    } catch (error) {
      if (isScanError(error)) return null
      throw error
    }
  }
}

/**
 * OFFSET_PRUNED where a page that too few nodes answered lies below the local replica's horizon; null else.
 *
 * Nodes may answer 410, but a status is never a vote (D-35): one lying node could end a walk with it. The local
 * replica follows the same log by the same rule (D-10), so its horizon predicts theirs. It is read
 * after their answers, because a node may still have what was just pruned here.
 *
 * @param position - Of the walk; null: its first page, or no walk.
 */
export async function expiredPageWalk(
  replica: History,
  position: PagePosition | null,
  outcome: { readonly kind: string },
): Promise<ScanError | null> {
  const isUnanswered = outcome.kind === 'lagging' || outcome.kind === 'insufficient'
  if (position === null || !isUnanswered) return null
  try {
    await pinAt(replica, position.offset)
    return null
  } catch (error) {
    if (!isScanError(error, 'OFFSET_PRUNED')) throw error
    return pageWalkExpired(`offset ${position.offset} lies below the history horizon`)
  }
}
