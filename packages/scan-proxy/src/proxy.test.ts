import type { Decided, Outcome } from '@quorumscan/reader'
import { ReaderError } from '@quorumscan/reader'
import type { Genesis } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { batchBody, batchOutcome } from './batch.ts'
import { sharedDsoAnswer } from './dso-answer.ts'
import { outcomeError, quorumHeaders, readerError } from './outcome.ts'
import { quorumOptions } from './quorum-options.ts'

const participation = { threshold: 2, nodeCount: 4, answered: 3, agreed: ['sv-1', 'sv-3'] }

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
  it('tell who agreed, at which offset', () => {
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
  it('says what existing clients match on', () => {
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

  it('says when to come back if the nodes lag', () => {
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

describe('quorumOptions', () => {
  // Only the number of nodes matters here.
  const genesis = { nodes: [1, 2, 3, 4] } as unknown as Genesis
  const { signal } = new AbortController()
  const forward = { 'x-request-id': 'r-1' }
  const waiting = <T>(wait: () => Promise<T>) => wait()
  const always = { signal, headers: forward }
  const options = (headers: object, query: object = {}) =>
    quorumOptions({ url: '/', headers, query, forward, signal, waiting }, genesis)

  it('default to weak, and the header wins over the query', () => {
    expect(options({})).toEqual({ ...always, threshold: 'weak' })
    expect(options({}, { quorum: 'all' })).toEqual({ ...always, threshold: 'all' })
    expect(options({ 'x-quorum': '3' }, { quorum: 'all' })).toEqual({ ...always, threshold: 3 })
  })

  it('hand on floor and freshness', () => {
    expect(options({ 'x-min-offset': 5, 'x-max-age-ms': 0 })).toEqual({
      ...always,
      threshold: 'weak',
      minOffset: 5,
      maxAgeMs: 0,
    })
  })

  it.each(['1', '5', '0', '-1', '2.5', 'WEAK', 'two', '', ' 2'])('refuse %j', (quorum) => {
    expect(() => options({ 'x-quorum': quorum })).toThrow(
      expect.objectContaining({ code: 'INVALID_QUORUM' }),
    )
  })
})

describe('a batch', () => {
  const present = decided('{"entry":{"name":"ä"}}')
  const absent = decided('{"entry":null}', { kind: 'verified-absent' })

  it('holds the answers byte for byte, in order', () => {
    expect(Buffer.from(batchBody([absent, present])).toString()).toBe(
      '{"results":[{"entry":null},{"entry":{"name":"ä"}}]}',
    )
    expect(Buffer.from(batchBody([])).toString()).toBe('{"results":[]}')
  })

  it('is agreed on by those who agreed on every part', () => {
    const other = decided('{"entry":null}', {
      kind: 'verified-absent',
      agreed: ['sv-2', 'sv-3'],
      dissented: ['sv-1'],
      answered: 4,
    })
    expect(batchOutcome([present, other])).toMatchObject({
      kind: 'verified',
      agreed: ['sv-3'],
      dissented: ['sv-1'],
      answered: 3,
    })
    expect(batchOutcome([{ ...absent, kind: 'trusted-absent' }])).toMatchObject({ kind: 'trusted' })
  })

  it('fails as its first failing part, and is none across offsets', () => {
    const failed: Outcome = {
      ...participation,
      kind: 'insufficient',
      dissented: [],
      reachable: 1,
      needed: 2,
      retryAfterMs: null,
    }
    expect(batchOutcome([present, failed])).toBe(failed)
    expect(batchOutcome([present, { ...absent, offset: 18 }])).toBeUndefined()
  })
})

describe('sharedDsoAnswer', () => {
  it('fills in the first agreeing node', () => {
    const shared = {
      dso_party_id: 'DSO::1220',
      dso_rules: {
        contract: { payload: { svs: [{ name: 'sv-2' }, { name: 'sv-1', party: 'p' }] } },
      },
    }
    const bytes = sharedDsoAnswer(decided(JSON.stringify(shared)))
    expect(JSON.parse(Buffer.from(bytes).toString())).toEqual({
      sv_user: 'sv-1',
      sv_party_id: 'p',
      ...shared,
    })
  })
})
