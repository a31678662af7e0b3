/** A dispute for callers: the signers of each state, with times as texts. */
import { expect, it } from 'vitest'
import type { ReadOutcome } from './bounded.ts'
import { outcomeError, publicOutcome } from './outcome-error.ts'

const group = { nodes: ['sv-1'], offset: 7, historyHash: 'a', answerDigest: 'b', entry: null }
const part = { threshold: 2, nodeCount: 4, answered: 2, agreed: [], dissented: [] }
const disputed = {
  ...part,
  ...{ kind: 'disputed', reason: 'fork' },
  groups: [{ ...group, recordTime: 1_763_719_200_123_456 }],
} satisfies ReadOutcome

it('the times of a dispute are texts, in the outcome as in the error', () => {
  const told = { ...disputed, groups: [{ ...group, recordTime: '2025-11-21T10:00:00.123456Z' }] }
  expect(publicOutcome(disputed)).toEqual(told)
  for (const outcome of [disputed, publicOutcome(disputed)])
    expect(outcomeError('a', outcome as typeof disputed)).toMatchObject({
      ...{ code: 'CONSENSUS_DISPUTED', details: { outcome: told } },
    })
})
