/**
 * When a member that lost what it has signed may vote again. Pure.
 *
 * The member may have signed heights up to the one in progress when it lost its record. A quorum of other members reports
 * their heights; the chain is at most one block past the greatest. Two blocks later the member has certainly signed
 * nothing. A vote by its key at that height comes from another machine, so it must not vote. If no quorum remains, its
 * operator decides.
 */
import type { MemberSet } from '@quorumscan/verifier'

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
/** A voting member appears in at least one of three consecutive blocks. */
export const BLOCKS_LOOKED_AT = 3

export function stepVoting(
  voting: Voting,
  event: {
    /** The height of the newest block that was published. */
    readonly height: number
    /** The greatest height at which a block has a vote of its key; 0: no vote was seen. */
    readonly ownVoteHeight: number
    /** The height that each connected member works on. */
    readonly memberHeights: readonly number[]
    readonly set: Pick<MemberSet, 'quorum'>
    /** The operator forces the vote, because nothing is ordered without it. */
    readonly isForced: boolean
  },
): Voting {
  if (voting.kind !== 'follows') return voting
  const { height, memberHeights, set } = event
  if (event.isForced) return { kind: 'votes' }
  const isEnough = memberHeights.length >= set.quorum
  const untilHeight =
    voting.untilHeight ?? (isEnough ? Math.max(height, ...memberHeights) + BLOCKS_PAST : null)
  if (untilHeight === null) return { kind: 'follows', untilHeight }
  if (event.ownVoteHeight >= untilHeight) return { kind: 'key-in-use', height: event.ownVoteHeight }
  if (height >= untilHeight + BLOCKS_LOOKED_AT) return { kind: 'votes' }
  return { kind: 'follows', untilHeight }
}
