/**
 * When a member that lost what it has signed may vote again. Pure.
 *
 * It may have signed up to the height that the chain worked on when it was lost. Of so many other members as decide a
 * block one is honest and took part in the newest: no block is newer than the next one after the greatest height that
 * they report. Two blocks further on, everything that the member signs is at a height that it has never seen: a vote of
 * its key at such a height was made by another machine with the key, such as one that was thought to be lost, and then it
 * must not vote. Where too few others are left to decide anything, that never comes, and its operator decides.
 */
import { quorumOf } from '@quorumscan/verifier'

export type Voting =
  | { readonly kind: 'votes' }
  | {
      readonly kind: 'follows'
      /** It has signed nothing from this height on; null while too few members have reported their height. */
      readonly untilHeight: number | null
    }
  /** Another machine votes with its key, last seen at this height. */
  | { readonly kind: 'key-in-use'; readonly height: number }

const BLOCKS_PAST = 2
/** Who votes is in one of so many blocks in a row: they wait a moment for late votes. */
export const BLOCKS_LOOKED_AT = 3

export function stepVoting(
  voting: Voting,
  event: {
    /** Of the newest block that was published. */
    readonly height: number
    /** The greatest height at which a block has a vote of its key; 0: no vote was seen. */
    readonly ownVoteHeight: number
    /** The height that each connected member works on. */
    readonly memberHeights: readonly number[]
    readonly memberCount: number
    /** The operator orders that it votes, whatever it may have signed, and nothing is ordered without it. */
    readonly isForced: boolean
  },
): Voting {
  if (voting.kind !== 'follows') return voting
  const { height, memberHeights, memberCount } = event
  if (event.isForced) return { kind: 'votes' }
  const isEnough = memberHeights.length >= quorumOf(memberCount)
  const untilHeight =
    voting.untilHeight ?? (isEnough ? Math.max(height, ...memberHeights) + BLOCKS_PAST : null)
  if (untilHeight === null) return { kind: 'follows', untilHeight }
  if (event.ownVoteHeight >= untilHeight) return { kind: 'key-in-use', height: event.ownVoteHeight }
  if (height >= untilHeight + BLOCKS_LOOKED_AT) return { kind: 'votes' }
  return { kind: 'follows', untilHeight }
}
