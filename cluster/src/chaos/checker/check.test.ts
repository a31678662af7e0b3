/**
 * The checker against histories of a real ledger: honest ones are valid, and each mistake that a reader, an
 * interpretation or a log could have makes them invalid.
 */
import { toHex } from '@quorumscan/base'
import { maxFaulty } from '@quorumscan/consensus'
import { ansEntry } from '@quorumscan/ledger'
import { Scenario } from '@quorumscan/ledger/testing'
import { formatTime } from '@quorumscan/model'
import { describe, expect, it } from 'vitest'
import { lieAboutEntry } from '../../faults/lies/said.ts'
import type { HistoryEvent, LogLine, SeenEntry } from '../history.ts'
import { check } from './check.ts'

const NAME = 'alice.unverified.ns'
const LIAR = `mallory::1220${'ab'.repeat(32)}`

/** What a replica shows for the name now. */
function shown(story: Scenario): SeenEntry | null {
  const [found] = story.ledger.all(ansEntry)
  if (found === undefined) return null
  const { user, name, url, description, expiresAt } = found.payload
  const contract_id = found.contractId
  return { contract_id, user, name, url, description, expires_at: formatTime(expiresAt) }
}

/** A name is requested, paid and confirmed; the answer of an honest replica at every offset. */
function tell() {
  const story = new Scenario()
  const answers: (SeenEntry | null)[] = []
  const note = () => {
    const { offset } = story.ledger.head()
    while (answers.length <= offset) answers.push(shown(story))
  }
  const alice = story.actor('alice')
  story.tap(alice, '200')
  const { payment } = story.pay(alice, NAME)
  note()
  const confirmedAt: number[] = []
  for (const index of [0, 1, 2]) {
    story.confirm(index, payment)
    confirmedAt.push(story.ledger.head().offset)
    note()
  }
  for (let count = 0; count < 12; count++) {
    story.ledger.advance(1000)
    note()
  }
  const log = story.ledger
    .entries()
    .map(({ offset, recordTime, bytes }): LogLine => ({ offset, recordTime, bytes: toHex(bytes) }))
  const lookups = answers.map((entry, offset) => lookup(offset, entry))
  const end: HistoryEvent[] = [
    { kind: 'phase', atMs: 1e6, phase: 'end' },
    ...story.network.genesis.nodes.map(({ name }) => ({
      kind: 'signed-state' as const,
      node: name,
      offset: story.ledger.head().offset,
      state: { historyHash: story.ledger.head().historyHash, stateRoot: '00' },
    })),
  ]
  return {
    story,
    alice,
    payment,
    answers,
    confirmedAt,
    log,
    lookups,
    end,
    genesis: story.network.genesis,
  }
}

function lookup(offset: number, entry: SeenEntry | null, more: object = {}): HistoryEvent {
  return {
    kind: 'lookup',
    client: 'client-1',
    startMs: offset * 10,
    endMs: offset * 10 + 5,
    subject: { name: NAME },
    quorum: 'weak',
    outcome: { kind: 'decided', offset, entry },
    ...more,
  }
}

const silent = (fromMs: number, toMs: number): HistoryEvent[] =>
  Array.from({ length: Math.floor((toMs - fromMs) / 1000) }, (_, index) => ({
    ...(lookup(0, null) as Extract<HistoryEvent, { kind: 'lookup' }>),
    startMs: fromMs + index * 1000,
    endMs: fromMs + index * 1000 + 990,
    outcome: { kind: 'undecided', code: 'CONSENSUS_DISPUTED' },
  }))

it('finds an honest history valid', async () => {
  const { log, lookups, end, genesis } = tell()
  const verdict = await check({ history: [...lookups, ...end], log, genesis })
  expect(verdict).toMatchObject({ verdict: 'valid', findings: [] })
})

describe('planted mistakes', () => {
  /** A reader that takes the first answer with enough equal votes; the liar is the quickest. */
  const read = (truth: SeenEntry | null, threshold: number) => {
    const lie = lieAboutEntry(
      'value',
      { lookup: { name: NAME }, entry: truth },
      { liar: LIAR, other: null },
    )
    const votes = [lie, truth, truth, truth].map((entry) => JSON.stringify(entry))
    const counts = new Map<string, number>()
    for (const vote of votes) {
      const count = (counts.get(vote) ?? 0) + 1
      counts.set(vote, count)
      if (count >= threshold) return JSON.parse(vote) as SeenEntry | null
    }
    throw new Error('no quorum')
  }

  it.each([
    ['f + 1', 1, 'valid'],
    ['f', 0, 'invalid'],
  ] as const)('a reader with threshold %s and one liar', async (_, more, wanted) => {
    const { answers, log, end, genesis } = tell()
    const threshold = maxFaulty(genesis.nodes.length) + more
    const lookups = answers.map((entry, offset) => lookup(offset, read(entry, threshold)))
    const verdict = await check({ history: [...lookups, ...end], log, genesis })
    expect(verdict.verdict).toBe(wanted)
    if (wanted === 'invalid') expect(verdict.sentence).toContain(LIAR)
  })

  it('an interpretation that resolves below q: the name is there after two confirmations', async () => {
    const { answers, confirmedAt, log, end, genesis } = tell()
    const [, second = 0, third = 0] = confirmedAt
    const lookups = answers.map((entry, offset) =>
      lookup(offset, offset >= second ? (answers[third] ?? null) : entry),
    )
    const verdict = await check({ history: [...lookups, ...end], log, genesis })
    expect(verdict.verdict).toBe('invalid')
    expect(verdict.findings[0]?.rule).toBe('answers are true')
  })

  it('an append that is acknowledged before it is durable: the payment is gone', async () => {
    const { payment, log, lookups, genesis, story } = tell()
    const paidAt = log.findIndex(
      (_, index) => story.ledger.results()[index] !== undefined && index === 3,
    )
    const accepted: HistoryEvent = {
      kind: 'write',
      client: 'client-1',
      startMs: 1,
      endMs: 2,
      operation: 'accept',
      outcome: 'acknowledged',
      code: null,
      contractId: payment,
      reference: '',
    }
    const kept = log.slice(0, paidAt)
    const early = lookups.slice(0, kept.length + 1)
    expect((await check({ history: [...early, accepted], log, genesis })).verdict).toBe('unknown')
    const verdict = await check({ history: [...early, accepted], log: kept, genesis })
    expect(verdict.verdict).toBe('invalid')
    expect(verdict.findings[0]?.rule).toBe('nothing acknowledged is lost')
  })
})

const signed = (
  offset: number,
  state: { readonly historyHash: string; readonly stateRoot: string },
): HistoryEvent => ({ kind: 'signed-state', node: 'sv-1', offset, state })

describe('every rule', () => {
  it.each<[string, (world: ReturnType<typeof tell>) => HistoryEvent[]]>([
    ['answers are true', () => [lookup(9999, null, { startMs: 1e5, endMs: 1e5 })]],
    [
      'reads never go back',
      ({ answers }) => [lookup(3, answers[3] ?? null, { startMs: 1e5, endMs: 1e5 })],
    ],
    ['replicas are equal', () => [signed(3, { historyHash: 'ab'.repeat(32), stateRoot: '00' })]],
    [
      'replicas are equal',
      ({ story }) => {
        const { offset, historyHash } = story.ledger.head()
        return [signed(offset, { historyHash, stateRoot: '11' })]
      },
    ],
    ['available while the budget is kept', () => silent(0, 30_000)],
    ['streams are true', () => [stream([{ offset: 2, updateId: 'x' }])]],
    [
      'streams lose nothing',
      ({ story }) => {
        const result = story.ledger.results()[0]
        const updateId = result?.kind === 'accepted' ? result.update.updateId : ''
        return [stream([{ offset: 1, updateId }]), stream([])]
      },
    ],
  ])('%s', async (rule, mistake) => {
    const world = tell()
    const history = [...world.lookups, ...world.end, ...mistake(world)]
    const verdict = await check({ history, log: world.log, genesis: world.genesis })
    expect(verdict.findings.map((finding) => finding.rule)).toEqual([rule])
    expect(verdict.verdict).toBe('invalid')
  })

  it('weak answers promise nothing beyond f, strong ones do', async () => {
    const { answers, lookups, log, end, genesis } = tell()
    const run: HistoryEvent = { kind: 'run', seed: '', nodes: 4, budget: 'beyond-f', durationMs: 1 }
    const wrong = { ...shownNowhere(), user: LIAR }
    const after = { startMs: 1e5, endMs: 1e5 }
    const told = (quorum: string) => [
      run,
      ...lookups,
      lookup(answers.length - 1, wrong, { ...after, quorum }),
      ...end,
    ]
    expect((await check({ history: told('weak'), log, genesis })).verdict).toBe('valid')
    expect((await check({ history: told('strong'), log, genesis })).verdict).toBe('invalid')
  })

  it('refusals are no fault while more than the budget, or no node, is broken', async () => {
    const { lookups, log, end, genesis } = tell()
    const broken = (node: string, lie = false): HistoryEvent => ({
      kind: 'fault',
      startMs: 0,
      endMs: 30_000,
      fault: lie ? { kind: 'lie', node, lie: 'deny' } : { kind: 'kill', node, part: null },
    })
    const verdictOf = async (...faults: HistoryEvent[]) =>
      (
        await check({
          history: [...lookups, ...silent(0, 30_000), ...faults, ...end],
          log,
          genesis,
        })
      ).verdict
    expect(await verdictOf(broken('sv-1'))).toBe('invalid')
    expect(await verdictOf(broken('sv-1'), broken('sv-2', true))).toBe('valid')
    expect(await verdictOf(broken('validator'))).toBe('valid')
  })

  it('says unknown where there is too little to judge by', async () => {
    const { lookups, log, end, genesis } = tell()
    const of = async (history: HistoryEvent[]) => (await check({ history, log, genesis })).verdict
    expect(await of(lookups)).toBe('unknown')
    expect(await of([...lookups.slice(0, 3), ...end])).toBe('unknown')
    expect(await of([...lookups, ...end.slice(0, -1)])).toBe('unknown')
    expect(await of([...lookups, ...end, { kind: 'trouble', atMs: 1, sentence: 'it burnt' }])).toBe(
      'unknown',
    )
  })
})

function stream(updates: { offset: number; updateId: string }[]): HistoryEvent {
  return {
    kind: 'stream',
    client: 'client-1',
    startMs: 0,
    endMs: 1,
    party: 'alice',
    beginExclusive: 0,
    throughOffset: 5,
    updates,
  }
}

function shownNowhere(): SeenEntry {
  return { contract_id: null, user: '', name: NAME, url: '', description: '', expires_at: null }
}
