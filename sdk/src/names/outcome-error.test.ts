/** Outcomes without an answer, as callers get them: times are texts, and messages have the reason. */
import { expect, it } from 'vitest'
import type { ReadOutcome } from './bounded.ts'
import { outcomeError, publicOutcome } from './outcome-error.ts'

const group = { nodes: ['sv-1'], offset: 7, historyHash: 'a', answerDigest: 'b', entry: null }
const part = {
  threshold: 2,
  nodeCount: 4,
  trust: null,
  answered: 2,
  agreed: [],
  dissented: [],
  clockSkewMs: null,
}
const disputed = {
  ...part,
  kind: 'disputed',
  reason: 'fork',
  groups: [{ ...group, recordTime: 1_763_719_200_123_456 }],
} satisfies ReadOutcome

it('the times of a dispute are texts, in the outcome as in the error', () => {
  const told = { ...disputed, groups: [{ ...group, recordTime: '2025-11-21T10:00:00.123456Z' }] }
  expect(publicOutcome(disputed)).toEqual(told)
  for (const outcome of [disputed, publicOutcome(disputed)])
    expect(outcomeError('a', outcome as typeof disputed)).toMatchObject({
      code: 'CONSENSUS_DISPUTED',
      details: { outcome: told },
    })
})

it('the error for too few nodes has the reason why the last answer proves nothing', () => {
  const few = {
    ...part,
    kind: 'insufficient',
    reachable: 1,
    needed: 2,
    retryAfterMs: null,
  } as const
  const refused = { ...few, unproven: 'too few signers' }
  expect(outcomeError('a', refused)).toMatchObject({
    code: 'NOT_ENOUGH_NODES',
    message: expect.stringContaining('The last answer proves nothing: too few signers.'),
    details: { outcome: refused },
  })
  for (const outcome of [few, { ...few, unproven: null }])
    expect(outcomeError('a', outcome).message).not.toContain('proves')
})
