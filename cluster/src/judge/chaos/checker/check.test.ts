/**
 * The checker against histories of a real ledger: honest ones are valid, and each mistake that a reader, an
 * interpretation or a log could have makes them invalid.
 * @module-tag thorough
 */
import { toHex } from '@quorumscan/base'
import { ansEntry } from '@quorumscan/ledger'
import { Scenario } from '@quorumscan/ledger/testing'
import { EQUIVOCATED } from '@quorumscan/operator'
import { formatInstant, maxFaulty } from '@quorumscan/verifier'
import type { CertifiedEntry } from '@quorumscan/verifier/certified'
import { describe, expect, it } from 'vitest'
import { lieAboutEntry } from '../../../faults/lies/false-answers.ts'
import type { HistoryEvent, LogLine, Verdict } from '../history.ts'
import { check } from './check.ts'

const NAME = 'alice.unverified.ns'
const LIAR = `mallory::1220${'ab'.repeat(32)}`

/** What a replica shows for the name now. */
function shown(story: Scenario): CertifiedEntry | null {
  const [found] = story.ledger.all(ansEntry)
  if (found === undefined) return null
  const { user, name, url, description, expiresAt } = found.payload
  const contract_id = found.contractId
  return { contract_id, user, name, url, description, expires_at: formatInstant(expiresAt) }
}

/** A name is requested, paid and confirmed; the answer of an honest replica at every offset. */
function createStory() {
  const story = new Scenario()
  const answers: (CertifiedEntry | null)[] = []
  const record = () => {
    const { offset } = story.ledger.head()
    while (answers.length <= offset) answers.push(shown(story))
  }
  const alice = story.actor('alice')
  story.tap(alice, '200')
  const { payment } = story.pay(alice, NAME)
  record()
  const confirmedAt: number[] = []
  for (const index of [0, 1, 2]) {
    story.confirm(index, payment)
    confirmedAt.push(story.ledger.head().offset)
    record()
  }
  for (let count = 0; count < 12; count++) {
    story.ledger.advance(1000)
    record()
  }
  const log = story.ledger
    .entries()
    .map(({ offset, recordTime, bytes }): LogLine => ({ offset, recordTime, bytes: toHex(bytes) }))
  const lookups = answers.map((entry, offset) => lookup(offset, entry))
  const end: HistoryEvent[] = [
    run('f', true),
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

const run = (budget: 'f' | 'beyond-f', allowsUnexercised: boolean): HistoryEvent => ({
  kind: 'run',
  seed: '',
  nodes: 4,
  budget,
  durationMs: 1,
  allowsUnexercised,
})

function lookup(offset: number, entry: CertifiedEntry | null, more: object = {}): HistoryEvent {
  return {
    kind: 'lookup',
    client: 'client-1',
    startMs: offset * 10,
    endMs: offset * 10 + 5,
    subject: { name: NAME },
    read: 'weak',
    outcome: { kind: 'answered', offset, entry, dissented: [] },
    ...more,
  }
}

const silent = (fromMs: number, toMs: number): HistoryEvent[] =>
  Array.from({ length: Math.floor((toMs - fromMs) / 1000) }, (_, index) => ({
    ...(lookup(0, null) as Extract<HistoryEvent, { kind: 'lookup' }>),
    startMs: fromMs + index * 1000,
    endMs: fromMs + index * 1000 + 990,
    outcome: { kind: 'refused', code: 'CONSENSUS_DISPUTED' },
  }))

it('finds an honest history valid', async () => {
  const { log, lookups, end, genesis } = createStory()
  const verdict = await check({ history: [...lookups, ...end], log, genesis })
  expect(verdict.verdict).toBe('valid')
  expect(brokenRules(verdict)).toEqual([])
})

it('counts how often each rule was tested, and accepts no untested rule', async () => {
  const { log, lookups, end, genesis } = createStory()
  const history = [run('f', false), ...lookups, ...end]
  const { verdict, sentence, rules } = await check({ history, log, genesis })
  const samplesOf = (name: string) => rules.find(({ rule }) => rule === name)?.samples
  expect(samplesOf('answers are true')).toBe(lookups.length)
  expect(samplesOf('a payment is collected by a quorum')).toBe(1)
  expect(samplesOf('replicas are equal')).toBe(4)
  expect(samplesOf('an acknowledged renewal is durable')).toBe(0)
  expect(verdict).toBe('inconclusive')
  expect(sentence).toContain('an acknowledged renewal is durable')
  expect(sentence).not.toContain('answers are true')
})

describe('planted mistakes', () => {
  /** A reader that takes the first answer with enough equal votes. The liar is the fastest. */
  const read = (truth: CertifiedEntry | null, threshold: number) => {
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
      if (count >= threshold) return JSON.parse(vote) as CertifiedEntry | null
    }
    throw new Error('no quorum')
  }

  it.each([
    ['f + 1', 1, 'valid'],
    ['f', 0, 'invalid'],
  ] as const)('a reader with threshold %s and one liar', async (_, more, wanted) => {
    const { answers, log, end, genesis } = createStory()
    const threshold = maxFaulty(genesis.nodes.length) + more
    const lookups = answers.map((entry, offset) => lookup(offset, read(entry, threshold)))
    const verdict = await check({ history: [...lookups, ...end], log, genesis })
    expect(verdict.verdict).toBe(wanted)
    if (wanted === 'invalid') expect(verdict.sentence).toContain(LIAR)
  })

  it('an interpretation that resolves below q: the name is there after two confirmations', async () => {
    const { answers, confirmedAt, log, end, genesis } = createStory()
    const [, second = 0, third = 0] = confirmedAt
    const lookups = answers.map((entry, offset) =>
      lookup(offset, offset >= second ? (answers[third] ?? null) : entry),
    )
    const verdict = await check({ history: [...lookups, ...end], log, genesis })
    expect(verdict.verdict).toBe('invalid')
    expect(brokenRules(verdict)[0]).toBe('answers are true')
  })

  it('an append that is acknowledged before it is durable: the payment is gone', async () => {
    const { payment, log, lookups, genesis, story } = createStory()
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
    expect((await check({ history: [...early, accepted], log, genesis })).verdict).toBe(
      'inconclusive',
    )
    const verdict = await check({ history: [...early, accepted], log: kept, genesis })
    expect(verdict.verdict).toBe('invalid')
    expect(brokenRules(verdict)[0]).toBe('an acknowledged payment is durable')
  })
})

const brokenRules = ({ rules }: Verdict) =>
  rules.filter(({ findings }) => findings.length > 0).map(({ rule }) => rule)

const signed = (
  offset: number,
  state: { readonly historyHash: string; readonly stateRoot: string },
): HistoryEvent => ({ kind: 'signed-state', node: 'sv-1', offset, state })

describe('every rule', () => {
  it.each<[string, (world: ReturnType<typeof createStory>) => HistoryEvent[]]>([
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
    ['available within the fault budget', () => silent(0, 30_000)],
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
    const world = createStory()
    const history = [...world.lookups, ...world.end, ...mistake(world)]
    const verdict = await check({ history, log: world.log, genesis: world.genesis })
    expect(brokenRules(verdict)).toEqual([rule])
    expect(verdict.verdict).toBe('invalid')
  })

  it('weak answers may be false beyond f, strong ones must be true', async () => {
    const { answers, lookups, log, end, genesis } = createStory()
    const wrong = { ...shownNowhere(), user: LIAR }
    const after = { startMs: 1e5, endMs: 1e5 }
    const historyOf = (read: string) => [
      run('beyond-f', true),
      ...lookups,
      lookup(answers.length - 1, wrong, { ...after, read }),
      ...end,
    ]
    expect((await check({ history: historyOf('weak'), log, genesis })).verdict).toBe('valid')
    expect((await check({ history: historyOf('strong'), log, genesis })).verdict).toBe('invalid')
    expect((await check({ history: historyOf('proof'), log, genesis })).verdict).toBe('valid')
    expect((await check({ history: historyOf('proof-strong'), log, genesis })).verdict).toBe(
      'invalid',
    )
  })

  it('refusals are allowed while more than f nodes, or another process, are faulty', async () => {
    const { lookups, log, end, genesis } = createStory()
    const broken = (node: string, lie = false): HistoryEvent => ({
      ...wholeFault,
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
    // A fault that this machine refused had no effect.
    expect(await verdictOf({ ...broken('validator'), refused: 'no' } as HistoryEvent)).toBe(
      'invalid',
    )
  })

  it('is inconclusive with too few events', async () => {
    const { lookups, log, end, genesis } = createStory()
    const of = async (history: HistoryEvent[]) => (await check({ history, log, genesis })).verdict
    expect(await of(lookups)).toBe('inconclusive')
    expect(await of([...lookups.slice(0, 3), ...end])).toBe('inconclusive')
    expect(await of([...lookups, ...end.slice(0, -1)])).toBe('inconclusive')
    const troubled = [
      ...lookups,
      ...end,
      { kind: 'trouble', atMs: 1, sentence: 'it burnt' } as const,
    ]
    expect(await of(troubled)).toBe('inconclusive')
    expect((await check({ history: troubled, log: [], genesis })).verdict).toBe('inconclusive')
  })
})

const wholeFault = {
  kind: 'fault',
  plannedMs: 0,
  startMs: 0,
  refused: null,
  seenMs: null,
  healedMs: 30_000,
  upMs: 30_000,
  endMs: 30_000,
} as const

describe('a node that equivocates', () => {
  const lie: HistoryEvent = {
    ...wholeFault,
    fault: { kind: 'lie', node: 'sv-2', lie: 'equivocate' },
  }
  const probe = (endMs: number): HistoryEvent => ({
    kind: 'probe',
    startMs: endMs - 10,
    endMs,
    node: 'sv-2',
    vote: 'agreed',
    signedProblem: `${EQUIVOCATED} of offset 7`,
    head: 7,
  })
  const probes = [probe(1000), probe(2000), probe(3000)]
  const evidence: HistoryEvent = { kind: 'evidence', node: 'sv-2', pairs: 3 }
  const verdictOf = async (...events: HistoryEvent[]) => {
    const { lookups, log, end, genesis } = createStory()
    const verdict = await check({ history: [...lookups, lie, ...events, ...end], log, genesis })
    const seen = verdict.rules.find(({ rule }) => rule === 'lies are seen')?.samples
    return [verdict.verdict, seen]
  }

  it('is detected, and must be among the evidence', async () => {
    expect(await verdictOf(...probes, evidence)).toEqual(['valid', 1])
    expect(await verdictOf(...probes)).toEqual(['invalid', 1])
    expect(await verdictOf()).toEqual(['valid', 0])
    // The prober asked before the lie began.
    expect(await verdictOf(probe(5))).toEqual(['valid', 0])
  })

  it('may be missing from the evidence while no reader could detect it', async () => {
    const outage: HistoryEvent = {
      ...wholeFault,
      fault: { kind: 'kill', node: 'validator', part: null },
    }
    expect(await verdictOf(...probes, outage)).toEqual(['valid', 1])
    expect((await verdictOf(probe(1000)))[0]).toBe('valid')
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

function shownNowhere(): CertifiedEntry {
  return { contract_id: null, user: '', name: NAME, url: '', description: '', expires_at: null }
}
