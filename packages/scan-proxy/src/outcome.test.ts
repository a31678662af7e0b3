import type { Decided } from '@quorumscan/reader'
import { ReaderError } from '@quorumscan/reader'
import { describe, expect, it } from 'vitest'
import { outcomeError, quorumHeaders, readerError } from './outcome.ts'

const participation = {
  threshold: 2,
  nodeCount: 4,
  trust: null,
  answered: 3,
  agreed: ['sv-1', 'sv-3'],
  clockSkewMs: null,
}

function decided(answer: string, more: Partial<Decided> = {}): Decided {
  return {
    ...participation,
    dissented: [],
    kind: 'verified',
    answer: new Uint8Array(Buffer.from(answer)),
    offset: 17,
    recordTime: 1_700_000_000_000_001,
    historyHash: 'ab'.repeat(32),
    ...more,
  }
}

describe('quorumHeaders', () => {
  it('name the nodes that agreed, and the offset', () => {
    expect(quorumHeaders(decided('{}', { dissented: ['sv-2'] }))).toEqual({
      'x-quorum-outcome': 'verified',
      'x-quorum-offset': '17',
      'x-quorum-record-time': '2023-11-14T22:13:20.000001Z',
      'x-quorum-threshold': '2',
      'x-quorum-agreed': 'sv-1,sv-3',
      'x-quorum-dissented': 'sv-2',
      'x-quorum-nodes': '3/4',
    })
  })

  it('name the nodes that were asked for their votes', () => {
    const headers = quorumHeaders(decided('{}', { asked: ['sv-1', 'sv-3', 'sv-4'] }))
    expect(headers['x-quorum-asked']).toBe('sv-1,sv-3,sv-4')
  })

  it('name the members of a trust rule', () => {
    const trust = { members: ['sv-1', 'sv-3'], threshold: 2 }
    expect(quorumHeaders(decided('{}', { trust, nodeCount: 2, answered: 2 }))).toMatchObject({
      'x-quorum-trust': 'sv-1,sv-3',
      'x-quorum-nodes': '2/2',
    })
  })

  it('claim no offset where none was agreed on', () => {
    const headers = quorumHeaders({
      ...participation,
      kind: 'insufficient',
      agreed: [],
      dissented: [],
    })
    expect(headers).not.toHaveProperty('x-quorum-offset')
    expect(headers).toMatchObject({ 'x-quorum-outcome': 'insufficient', 'x-quorum-agreed': '' })
  })
})

describe('outcomeError', () => {
  it('gives the reason for which an answer was not believed', () => {
    const error = outcomeError({
      ...participation,
      kind: 'insufficient',
      dissented: [],
      reachable: 1,
      needed: 2,
      retryAfterMs: null,
      unproven: 'too few signers',
    })
    expect(error.message).toMatch(
      /BFT guarantees\. The last answer proves nothing: too few signers\.$/,
    )
    expect(error.details).toEqual({ reachable: 1, needed: 2, unproven: 'too few signers' })
  })

  it('begins with the sentence that existing clients match', () => {
    const insufficient = outcomeError({
      ...participation,
      kind: 'insufficient',
      dissented: [],
      reachable: 1,
      needed: 2,
      retryAfterMs: 1500,
    })
    expect(insufficient.code).toBe('NOT_ENOUGH_NODES')
    expect(insufficient.spec.httpStatus).toBe(502)
    expect(insufficient.message).toBe(
      'Only 1 scan instances can be used (out of 4 configured ones), which are fewer than the necessary 2 to achieve BFT guarantees.',
    )
    expect(insufficient.details).toEqual({ reachable: 1, needed: 2 })
    expect(insufficient.retryAfterSeconds).toBe(2)
    const disputed = outcomeError({
      ...participation,
      kind: 'disputed',
      reason: 'votes',
      dissented: [],
      groups: [
        {
          nodes: ['sv-1'],
          offset: 17,
          recordTime: 0,
          historyHash: 'cd',
          answerDigest: 'ef',
          entry: null,
        },
      ],
    })
    expect(disputed.code).toBe('CONSENSUS_DISPUTED')
    expect(disputed.message).toBe(
      'Failed to reach consensus from 4 Scan nodes, requiring 2 matching responses.',
    )
    expect(disputed.details).toMatchObject({ groups: [{ nodes: ['sv-1'], answer_digest: 'ef' }] })
  })

  it('names the time to retry if the nodes lag', () => {
    const error = outcomeError({
      ...participation,
      kind: 'lagging',
      reason: 'stale',
      dissented: [],
      wantedOffset: 20,
      headOffset: 17,
      ageMs: 61_000,
      retryAfterMs: 1_200,
    })
    expect(error.code).toBe('CONSENSUS_LAGGING')
    expect(error.retryAfterSeconds).toBe(2)
    expect(error.details).toEqual({
      reason: 'stale',
      wanted_offset: 20,
      head_offset: 17,
      age_ms: 61_000,
    })
  })

  it('gives errors of the reader their own codes', () => {
    expect(readerError(new ReaderError('OVERLOADED', 'full'))).toMatchObject({ code: 'OVERLOADED' })
    const other = new Error('x')
    expect(readerError(other)).toBe(other)
  })
})
