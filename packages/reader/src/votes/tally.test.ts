import { maxFaulty, quorumOf, utf8 } from '@quorumscan/verifier'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  castVote,
  createBallot,
  isSameVote,
  largestGroup,
  tallyVerdict,
  type Vote,
  withdrawVote,
} from './tally.ts'

const vote = (answer: string, more: Partial<Vote> = {}): Vote => ({
  offset: 1,
  recordTime: 1,
  historyHash: 'ab',
  answer: utf8(answer),
  ...more,
})

function ballotOf(votes: readonly Vote[]) {
  const ballot = createBallot(isSameVote)
  for (const [voter, one] of votes.entries()) castVote(ballot, { voter, vote: one })
  return ballot
}

const calm = { nodeCount: 4, threshold: 2, unusableCount: 0, laggingCount: 0, isFork: false }

describe('votes', () => {
  it('count together only if everything is equal', () => {
    const different = [
      vote('yes'),
      vote('no'),
      vote('yes', { offset: 2 }),
      vote('yes', { recordTime: 2 }),
      vote('yes', { historyHash: 'cd' }),
    ]
    expect(ballotOf(different).groups).toHaveLength(5)
    expect(ballotOf([vote('yes'), vote('yes'), vote('yes')]).groups).toHaveLength(1)
  })

  it('count once for each node', () => {
    const ballot = ballotOf([vote('yes')])
    expect(() => castVote(ballot, { voter: 0, vote: vote('yes') })).toThrow(RangeError)
    expect(() => castVote(ballot, { voter: 0, vote: vote('no') })).toThrow(RangeError)
  })

  it('are withdrawn by a node that votes again', () => {
    const ballot = ballotOf([vote('yes'), vote('yes'), vote('no')])
    withdrawVote(ballot, 2)
    expect(ballot).toMatchObject({ votedCount: 2, groups: [{ voters: [0, 1] }] })
    castVote(ballot, { voter: 2, vote: vote('yes') })
    expect(largestGroup(ballot)?.voters).toEqual([0, 1, 2])
    withdrawVote(ballot, 0)
    withdrawVote(ballot, 0)
    expect(ballot).toMatchObject({ votedCount: 2, groups: [{ voters: [1, 2] }] })
  })

  it('count together by the comparison that is given', () => {
    const ballot = createBallot((a: number, b: number) => a % 10 === b % 10)
    for (const [voter, one] of [7, 17, 8, 27].entries()) castVote(ballot, { voter, vote: one })
    expect(ballot.groups.map(({ voters }) => voters)).toEqual([[0, 1, 3], [2]])
  })
})

describe('a verdict', () => {
  it.each([
    ['open without votes', [], {}, 'open'],
    ['open while votes can still come', ['a', 'b'], {}, 'open'],
    ['decided at the threshold', ['a', 'a'], {}, 'decided'],
    ['decided whatever the others do', ['a', 'b', 'a'], { unusableCount: 1 }, 'decided'],
    ['disputed when no group can reach it', ['a', 'b', 'c'], { threshold: 3 }, 'disputed'],
    ['open when one still can', ['a', 'b', 'a'], { threshold: 3 }, 'open'],
    ['insufficient beyond n − t', ['a'], { unusableCount: 3 }, 'insufficient'],
    ['open at n − t', ['a'], { unusableCount: 2 }, 'open'],
    ['disputed before insufficient', ['a', 'b'], { threshold: 4, unusableCount: 2 }, 'disputed'],
    ['lagging when those left lag', ['a'], { unusableCount: 1, laggingCount: 2 }, 'lagging'],
    ['disputed in a tie of the living', ['a', 'b'], { unusableCount: 2 }, 'disputed'],
    ['disputed where two groups reach it', ['a', 'a', 'b', 'b'], {}, 'disputed'],
    ['disputed in a fork, whatever the count', ['a', 'a'], { isFork: true }, 'disputed'],
  ])('is %s', (_, answers, more, kind) => {
    const ballot = ballotOf(answers.map((answer) => vote(answer)))
    expect(tallyVerdict(ballot, { ...calm, ...more }).kind).toBe(kind)
  })

  it('needs a threshold from 1 to n', () => {
    for (const threshold of [0, 5, Number.NaN])
      expect(() => tallyVerdict(createBallot(isSameVote), { ...calm, threshold })).toThrow(
        RangeError,
      )
  })

  const voting = fc.integer({ min: 1, max: 13 }).chain((nodeCount) =>
    fc.record({
      nodeCount: fc.constant(nodeCount),
      threshold: fc.integer({ min: maxFaulty(nodeCount) + 1, max: nodeCount }),
      // Per node: an answer, silence, failure or lag.
      nodes: fc.array(fc.constantFrom('a', 'b', 'c', null, 'failed', 'lagging'), {
        minLength: nodeCount,
        maxLength: nodeCount,
      }),
    }),
  )

  it('never accepts a lie of f nodes', () => {
    fc.assert(
      fc.property(voting, ({ nodeCount, threshold, nodes }) => {
        // The first f nodes lie as they like; the others vote for the truth if they vote at all.
        const truth = nodes.map((node, index) =>
          index < maxFaulty(nodeCount) || node === null || node.length > 1 ? node : 'truth',
        )
        const ballot = createBallot(isSameVote)
        for (const [voter, node] of truth.entries())
          if (node !== null && node !== 'failed' && node !== 'lagging')
            castVote(ballot, { voter, vote: vote(node) })
        const verdict = tallyVerdict(ballot, { ...calm, nodeCount, threshold })
        if (verdict.kind === 'decided')
          expect(new TextDecoder().decode(verdict.group.vote.answer)).toBe('truth')
      }),
      { numRuns: 2000 },
    )
  })

  it('never changes to another decision, and is open only while votes can arrive', () => {
    fc.assert(
      fc.property(voting, ({ nodeCount, threshold, nodes }) => {
        const count = (kind: string) => nodes.filter((node) => node === kind).length
        const ballot = createBallot(isSameVote)
        const waiting: number[] = []
        for (const [voter, node] of nodes.entries())
          if (node === null) waiting.push(voter)
          else if (node.length === 1) castVote(ballot, { voter, vote: vote(node) })
        const attendance = {
          nodeCount,
          threshold,
          unusableCount: count('failed'),
          laggingCount: count('lagging'),
          isFork: false,
        }
        const before = tallyVerdict(ballot, attendance)
        if (before.kind === 'open') expect(waiting.length).toBeGreaterThan(0)
        for (const voter of waiting) castVote(ballot, { voter, vote: vote('a') })
        const after = tallyVerdict(ballot, attendance)
        expect(after.kind).not.toBe('open')
        if (before.kind === 'decided' && after.kind === 'decided')
          expect(after.group).toBe(before.group)
        if (before.kind === 'decided') expect(after.kind).toMatch(/decided|disputed/)
        if (before.kind === 'insufficient' && count('failed') > nodeCount - threshold)
          expect(after.kind).not.toBe('decided')
      }),
      { numRuns: 2000 },
    )
  })

  it('is the same for two strong readers at one offset, unless more than f nodes lie', () => {
    for (let nodeCount = 1; nodeCount <= 100; nodeCount++) {
      const overlap = 2 * quorumOf(nodeCount) - nodeCount
      expect(overlap, `n = ${nodeCount}`).toBeGreaterThan(maxFaulty(nodeCount))
      // And there is one with f nodes down.
      expect(quorumOf(nodeCount)).toBeLessThanOrEqual(nodeCount - maxFaulty(nodeCount))
    }
  })
})
