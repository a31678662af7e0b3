/** Decides when a follower opens the next stream after one ended, and when it reports that the log is damaged. Pure. */
import { backoffMs, type Random } from '@quorumscan/base'

export type FollowState = {
  /** Streams in a row that ended before they reached the known end. */
  readonly losses: number
  /** Streams in a row whose next group was malformed: a group that was damaged on the way is whole the next time. */
  readonly damages: number
}

export type FollowEvent =
  /** The stream has the group that was applied last. */
  | 'joined'
  /** The stream brought a new group. */
  | 'grown'
  /** The stream ended, or could not be opened. */
  | 'lost'
  /** The stream has a group that must not exist. */
  | 'damaged'

export const FOLLOW_START: FollowState = { losses: 0, damages: 0 }

/** Damage in transit is transient. A group that is still damaged after 1.5 s is damaged in the log. */
const DAMAGES_MAX = 6

/** @returns `retryMs`: the pause before the next stream; null if the log itself is damaged. */
export function stepFollow(state: FollowState, event: FollowEvent, random: Random) {
  switch (event) {
    case 'joined':
      return { state: { ...state, losses: 0 }, retryMs: 0 }
    case 'grown':
      return { state: FOLLOW_START, retryMs: 0 }
    case 'lost': {
      const losses = state.losses + 1
      return { state: { ...state, losses }, retryMs: reconnectDelayMs(losses, random) }
    }
    case 'damaged': {
      const damages = state.damages + 1
      const retryMs = damages < DAMAGES_MAX ? reconnectDelayMs(damages, random) : null
      return { state: { ...state, damages }, retryMs }
    }
  }
}

/** A Redis that restarts is up within a second. One that stays down is tried at least every two seconds. */
const BOUNDS = { minMs: 50, maxMs: 2000 }

export function reconnectDelayMs(failures: number, random: Random): number {
  return backoffMs(failures, { ...BOUNDS, random: () => random.fraction() })
}
