import { ScanError } from '@quorumscan/errors'
import { formatPageToken } from '@quorumscan/model'
import type { Outcome } from '@quorumscan/reader'
import { describe, expect, it } from 'vitest'
import { pagePosition, whyOver } from './pages.ts'

const genesisHash = 'ab'.repeat(32)
const subject = { kind: 'prefix', prefix: 'al' } as const
const signal = new AbortController().signal
const HORIZON = 40
const HEAD = 100

/** The part of a replica that is asked, with a horizon. */
const replica = {
  head: () => ({ offset: HEAD, recordTime: 0, historyHash: '', entryHash: '' }),
  pin: async (offset: number | null) => {
    if (offset !== null && offset < HORIZON) throw new ScanError('OFFSET_PRUNED', 'pruned')
    return { offset: offset ?? HEAD, recordTime: 0, historyHash: '' }
  },
}

const none = { threshold: 2, nodeCount: 4, answered: 0, agreed: [], dissented: [] }
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
  it('goes on where its token says, and refuses what is no token of this list', () => {
    const position = { after: 'alice.unverified.ns', offset: 7 }
    const token = formatPageToken(genesisHash, subject, position)
    expect(pagePosition(genesisHash, subject, token)).toEqual(position)
    expect(pagePosition(genesisHash, subject, undefined)).toBeNull()
    for (const [hash, list, text] of [
      [genesisHash, { ...subject, prefix: 'a' }, token],
      ['cd'.repeat(32), subject, token],
      [genesisHash, subject, 'nonsense'],
    ] as const)
      expect(() => pagePosition(hash, list, text)).toThrow(
        expect.objectContaining({ code: 'INVALID_PAGE_TOKEN' }),
      )
  })

  it.each([
    ['insufficient', HORIZON - 1, 'OFFSET_PRUNED'],
    ['lagging', HORIZON - 1, 'OFFSET_PRUNED'],
    ['insufficient', HORIZON, null],
    ['lagging', HEAD, null],
    ['lagging', HEAD + 1, null],
    ['disputed', HORIZON - 1, null],
    // Whoever still has it may answer, whatever our own horizon.
    ['verified', HORIZON - 1, null],
  ])('that ended %s at offset %d is %s', async (kind, offset, code) => {
    const outcome = outcomes[kind] as Outcome
    const over = await whyOver(replica, { position: { after: 'alice', offset }, outcome }, signal)
    expect(over?.code ?? null).toBe(code)
  })

  it('is never over before its walk has begun', async () => {
    const outcome = outcomes['insufficient'] as Outcome
    expect(await whyOver(replica, { position: null, outcome }, signal)).toBeNull()
  })
})
