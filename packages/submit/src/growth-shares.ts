/**
 * The bytes that this participant may add to the state in a day (D-94), which its users share: otherwise one user could
 * use them up, and nobody else could register, pay or offer until midnight. The ledger counts them for the participant;
 * what its users have of them is counted here, from a restart on. It is charged before the submission, by its dry run, and
 * given back if the submission had no effect.
 */
import { type Clock, createShares } from '@quorumscan/base'
import { ScanError } from '@quorumscan/errors'
import type { UserId } from '@quorumscan/model'

const DAY_MICROS = 86_400_000_000
/** A user has as much as it leaves to others: a validator may have a single one. They stay until the day ends. */
const SHARE = { shareOfFree: 1, kind: 'state' } as const

export type GrowthShares = ReturnType<typeof createGrowthShares>

/** @param options.bytesPerDay - `stateBytesPerDay` of the genesis. */
export function createGrowthShares(options: {
  readonly bytesPerDay: number
  readonly clock: Pick<Clock, 'nowMicros'>
}) {
  const { bytesPerDay, clock } = options
  const today = () => Math.floor(clock.nowMicros() / DAY_MICROS)
  const begin = () =>
    createShares('bytes that users add to the state in a day', { bytes: bytesPerDay }, SHARE)
  let day = today()
  let shares = begin()
  return {
    /**
     * Takes the bytes that a submission adds, for the rest of the day. Nothing is taken of what adds none.
     *
     * @returns A function that gives them back: the submission had no effect.
     * @throws {ScanError} LIMIT_EXCEEDED, which is definite.
     */
    take(userId: UserId, bytes: number): () => void {
      if (bytes <= 0) return () => {}
      if (today() !== day) {
        day = today()
        shares = begin()
      }
      const giveBack = shares.take(userId, { bytes })
      if (giveBack === null)
        throw new ScanError(
          'LIMIT_EXCEEDED',
          'the user has added its share of the bytes that this validator may add to the state in a day; archivals, merges and renewals continue',
        )
      return giveBack
    },
  }
}
