import { describe, expect, it } from 'vitest'
import { stepVoting, type Voting } from './voting.ts'

const NOBODY = { height: 0, memberHeights: [], memberCount: 4 }
const lost: Voting = { kind: 'follows', untilHeight: null }

function follow(...moments: readonly (readonly [height: number, ...members: number[]])[]): Voting {
  let voting = lost
  for (const [height, ...memberHeights] of moments)
    voting = stepVoting(voting, { height, memberHeights, memberCount: 4, isTold: false })
  return voting
}

describe('a member that lost what it has signed', () => {
  it('asks as many others as decide a block', () => {
    expect(follow([0], [0, 9], [0, 9, 9])).toEqual(lost)
    expect(follow([0, 9, 9, 8])).toEqual({ kind: 'follows', untilHeight: 11 })
  })

  it('votes two blocks past the greatest height that they told it then', () => {
    const told = [0, 9, 9, 8] as const
    expect(follow(told, [10, 11, 11, 11])).toEqual({ kind: 'follows', untilHeight: 11 })
    expect(follow(told, [11, 12])).toEqual({ kind: 'votes' })
  })

  it('waits on what it has itself seen, too', () => {
    expect(follow([20, 9, 9, 9])).toEqual({ kind: 'follows', untilHeight: 22 })
  })

  it('votes ever after', () => {
    const votes: Voting = { kind: 'votes' }
    expect(stepVoting(votes, { ...NOBODY, isTold: false })).toEqual(votes)
  })

  it('votes at once when its operator says so', () => {
    expect(stepVoting(lost, { ...NOBODY, isTold: true })).toEqual({ kind: 'votes' })
  })
})
