import type { Decided, Outcome, ReadOptions } from '@quorumscan/reader'
import type { Lookup } from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { readVoted } from './voted.ts'

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

/** Looks up one name per outcome of a round, round by round; the last round is repeated. */
async function readBatch(rounds: readonly (readonly Outcome[])[], lookups?: readonly Lookup[]) {
  const floors: (number | undefined)[] = []
  const names = rounds[0]?.map((_, index) => ({ name: `name-${index}` })) ?? []
  const reader = {
    async lookup(_: readonly Lookup[], { minOffset }: ReadOptions = {}) {
      floors.push(minOffset)
      return [...(rounds[Math.min(floors.length, rounds.length) - 1] ?? [])]
    },
    read: () => Promise.reject(new Error('not a lookup')),
    status: () => ({
      nodes: Array.from({ length: 12 }, (_, index) => ({ name: `sv-${index + 1}` })),
    }),
  }
  const outcome = await readVoted(reader, { lookups: lookups ?? names }, { minOffset: 5 })
  return { outcome, floors }
}

describe('a batch', () => {
  const present = decided('{"entry":{"name":"ä"}}')
  const absent = decided('{"entry":null}', { kind: 'verified-absent' })
  const bodyOf = ({ outcome }: Awaited<ReturnType<typeof readBatch>>) =>
    'answer' in outcome ? Buffer.from(outcome.answer).toString() : outcome.kind

  it('holds the answers byte for byte, in order', async () => {
    expect(bodyOf(await readBatch([[absent, present]]))).toBe(
      '{"results":[{"entry":null},{"entry":{"name":"ä"}}]}',
    )
    expect(bodyOf(await readBatch([[present]], []))).toBe('{"results":[]}')
  })

  it('is agreed on by the nodes that agreed on every part', async () => {
    const other = decided('{"entry":null}', {
      kind: 'verified-absent',
      asked: ['sv-1', 'sv-2', 'sv-3'],
      agreed: ['sv-2', 'sv-3'],
      dissented: ['sv-1'],
      answered: 4,
    })
    expect((await readBatch([[present, other]])).outcome).toMatchObject({
      kind: 'verified',
      asked: ['sv-1', 'sv-2', 'sv-3'],
      agreed: ['sv-3'],
      dissented: ['sv-1'],
      answered: 3,
    })
    const late = decided('{"entry":null}', {
      asked: ['sv-2', 'sv-10'],
      dissented: ['sv-2', 'sv-10'],
    })
    expect((await readBatch([[late, present]])).outcome).toMatchObject({
      asked: ['sv-2', 'sv-10'],
      dissented: ['sv-2', 'sv-10'],
    })
    const trusted = await readBatch([[{ ...absent, kind: 'trusted-absent' }]])
    expect(trusted.outcome).toMatchObject({ kind: 'trusted' })
  })

  it('fails with the outcome of its first failed part', async () => {
    const failed: Outcome = {
      ...participation,
      kind: 'insufficient',
      dissented: [],
      reachable: 1,
      needed: 2,
      retryAfterMs: null,
    }
    expect((await readBatch([[present, failed]])).outcome).toBe(failed)
  })

  it('with answers at several offsets is read again at the highest, at most thrice', async () => {
    const later = { ...absent, offset: 18 }
    const met = await readBatch([
      [present, later],
      [{ ...present, offset: 18 }, later],
    ])
    expect(met.floors).toEqual([5, 18])
    expect(met.outcome).toMatchObject({ offset: 18 })
    await expect(readBatch([[present, later]])).rejects.toMatchObject({ code: 'CONSENSUS_LAGGING' })
  })
})
