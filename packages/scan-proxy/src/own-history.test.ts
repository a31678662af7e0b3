import { ScanError } from '@quorumscan/errors'
import type { Outcome } from '@quorumscan/reader'
import { describe, expect, it } from 'vitest'
import { expiredPageWalk, localHistoryHash } from './own-history.ts'

const HORIZON = 40
const HEAD = 100

/** The part of a replica that these functions read. */
const replica = {
  head: () => ({ offset: HEAD, recordTime: 0, historyHash: '', entryHash: '' }),
  pin: async (offset: number | null) => {
    if (offset !== null && offset < HORIZON) throw new ScanError('OFFSET_PRUNED', 'pruned')
    return { offset: offset ?? HEAD, recordTime: 0, historyHash: 'ab' }
  },
}

const none = {
  threshold: 2,
  nodeCount: 4,
  trust: null,
  answered: 0,
  agreed: [],
  dissented: [],
  clockSkewMs: null,
}
const outcomes: Record<string, Outcome> = {
  insufficient: { ...none, kind: 'insufficient', reachable: 0, needed: 2, retryAfterMs: null },
  lagging: {
    ...none,
    kind: 'lagging',
    reason: 'not-reached',
    wantedOffset: 0,
    headOffset: null,
    ageMs: null,
    retryAfterMs: 1,
  },
  disputed: { ...none, kind: 'disputed', reason: 'votes', groups: [] },
  verified: {
    ...none,
    kind: 'verified',
    answer: new Uint8Array(),
    offset: 1,
    recordTime: 1,
    historyHash: '',
  },
}

describe('a page through the proxy', () => {
  it.each([
    ['insufficient', HORIZON - 1, 'OFFSET_PRUNED'],
    ['lagging', HORIZON - 1, 'OFFSET_PRUNED'],
    ['insufficient', HORIZON, null],
    ['lagging', HEAD, null],
    ['lagging', HEAD + 1, null],
    ['disputed', HORIZON - 1, null],
    // A node that still has it may answer, whatever the horizon of the local replica.
    ['verified', HORIZON - 1, null],
  ])('with the outcome %s at offset %d ends the walk with %s', async (kind, offset, code) => {
    const outcome = outcomes[kind] as Outcome
    const over = await expiredPageWalk(replica, { after: 'alice', offset }, outcome)
    expect(over?.code ?? null).toBe(code)
  })

  it('without a page token does not end a walk', async () => {
    const outcome = outcomes['insufficient'] as Outcome
    expect(await expiredPageWalk(replica, null, outcome)).toBeNull()
  })
})

it('the replica compares no history below its horizon or above its head', async () => {
  const hashAt = localHistoryHash(replica)
  expect(await hashAt(HORIZON)).toBe('ab')
  expect(await hashAt(HORIZON - 1)).toBeNull()
  expect(await hashAt(HEAD + 1)).toBeNull()
})
