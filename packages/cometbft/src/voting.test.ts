import { describe, expect, it } from 'vitest'
import { stepVoting, type Voting } from './voting.ts'

const NO_PEERS = { height: 0, ownVoteHeight: 0, memberHeights: [], set: { quorum: 3 } }
const lost: Voting = { kind: 'follows', untilHeight: null }

function follow(...moments: readonly (readonly [height: number, ...members: number[]])[]): Voting {
  let voting = lost
  for (const [height, ...memberHeights] of moments)
    voting = stepVoting(voting, { ...NO_PEERS, height, memberHeights, isForced: false })
  return voting
}

describe('a member that lost its signing state', () => {
  it('waits for the heights of a quorum of other members', () => {
    expect(follow([0], [0, 9], [0, 9, 9])).toEqual(lost)
    expect(follow([0, 9, 9, 8])).toEqual({ kind: 'follows', untilHeight: 11 })
  })

  it('votes three blocks above what it may have signed, by the first reported heights', () => {
    const told = [0, 9, 9, 8] as const
    expect(follow(told, [13, 14, 14, 14])).toEqual({ kind: 'follows', untilHeight: 11 })
    expect(follow(told, [14, 15])).toEqual({ kind: 'votes' })
  })

  it('does not vote once a later block has a vote of its key that it did not cast', () => {
    const following: Voting = { kind: 'follows', untilHeight: 11 }
    const step = (voting: Voting, height: number, ownVoteHeight: number) =>
      stepVoting(voting, { ...NO_PEERS, height, ownVoteHeight, isForced: false })
    // It may have cast this vote itself, before it lost its signing state.
    expect(step(following, 11, 10)).toEqual(following)
    const keyInUse = step(following, 12, 11)
    expect(keyInUse).toEqual({ kind: 'key-in-use', height: 11 })
    expect(step(keyInUse, 99, 11)).toEqual(keyInUse)
    expect(step(following, 14, 13)).toEqual({ kind: 'key-in-use', height: 13 })
  })

  it('counts its own height among the reported heights', () => {
    expect(follow([20, 9, 9, 9])).toEqual({ kind: 'follows', untilHeight: 22 })
  })

  it('keeps voting once it votes', () => {
    const votes: Voting = { kind: 'votes' }
    expect(stepVoting(votes, { ...NO_PEERS, isForced: false })).toEqual(votes)
  })

  it('votes at once when its operator forces it', () => {
    expect(stepVoting(lost, { ...NO_PEERS, isForced: true })).toEqual({ kind: 'votes' })
  })
})
