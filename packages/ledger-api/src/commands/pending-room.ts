/**
 * The room for submissions whose outcome is not known yet, which users share: others can submit while one user waits for
 * many outcomes, as those of delayed commands.
 */
import { createShares } from '@quorumscan/base'
import { LedgerError } from '@quorumscan/errors'
import type { UserId } from '@quorumscan/model'
import { PENDING_MAX } from '@quorumscan/users'

/** Of signed entries in base64, which are in memory and in the store. One may have 342 KiB. */
export const PENDING_BYTES_MAX = 64 * 1024 * 1024

export function createPendingRoom() {
  const shares = createShares('submissions of the ledger interface without an outcome', {
    entries: PENDING_MAX,
    bytes: PENDING_BYTES_MAX,
  })
  return {
    /** Returns a function that gives the room back, once. @throws {LedgerError} PARTICIPANT_BACKPRESSURE. */
    take(userId: UserId, bytes: number): () => void {
      const release = shares.take(userId, { entries: 1, bytes })
      if (release === null) throw overloaded(`there are too many ${shares.pool}`)
      return release
    },
    /** Of a submission that is stored already: also above the limits. */
    hold: (userId: UserId, bytes: number) => shares.hold(userId, { entries: 1, bytes }),
  }
}

export function overloaded(why: string): LedgerError {
  return new LedgerError('PARTICIPANT_BACKPRESSURE', `The participant is overloaded: ${why}.`)
}
