/**
 * Reads in virtual time: f scans lie in any way, others lag, fail and hang. Mutants break one rule each.
 * @module-tag thorough
 */

import { maxFaulty } from '@quorumscan/verifier'
import { importMutant, type Mutation } from '@quorumscan/verifier/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { VoteEvent, Voter, VoteVerdict } from './splice-decider.ts'
import * as correct from './splice-decider.ts'

type Decider = typeof correct

const DECIDER = 'sdk/src/splice/splice-decider.ts'
const mutation = (mistake: string, text: string, by: string): Mutation => ({
  mistake,
  file: DECIDER,
  text,
  by,
})
const IS_ENOUGH =
  'if (Number.isInteger(votes) && votes >= least && votes <= nodeCount) return votes'
const IS_SAME = 'return a.answer === b.answer'
const IS_DECIDED = 'voters.length >= state.needed'
const FAILURE = 'voter.failure = failure'

const MUTANTS: readonly Mutation[] = [
  mutation('f equal answers decide', IS_ENOUGH, 'return Math.max(1, votes - 1)'),
  mutation(
    'n is the number of reachable scans',
    'trust === null ? maxFaulty(nodeCount)',
    'trust === null ? 0',
  ),
  mutation('the first of two or three decides', 'nodeCount < 4 ?', 'nodeCount < 2 ?'),
  mutation('the first answer wins', IS_SAME, 'return a !== undefined && b !== undefined'),
  mutation('a super-validator counts for each of its URLs', IS_DECIDED, `2 * ${IS_DECIDED}`),
  mutation(
    'failures reach consensus',
    FAILURE,
    `${FAILURE}
  withdrawVote(state.ballot, voter.index)
  castVote(state.ballot, { voter: voter.index, vote: { answer: 'null', value: null } })`,
  ),
  mutation(
    'an earlier answer still counts',
    'withdrawVote(ballot, index)',
    'if (ballot.groups.length > 99) withdrawVote(ballot, index)',
  ),
  mutation('a failure is for good', 'failureCount >= FAILURES_MAX', 'failureCount > 0'),
  mutation('equal answers are not counted', IS_SAME, 'return false'),
]

const DEADLINE_MS = 10_000
/** A request that hangs fails after this time. */
const REQUEST_MS_MAX = 5_000

type Reply = { readonly afterMs: number } & (
  | { readonly answer: string }
  | { readonly reason: string; readonly retryAfterMs?: number }
)

/** Answers a request to one node by its time and its number. */
type Node = (asked: { readonly atMs: number; readonly count: number }) => Reply

type Run = {
  readonly verdict: VoteVerdict
  readonly endedMs: number
  /** The answers of all nodes, honest or not, before the end. */
  readonly said: readonly { readonly node: number; readonly answer: string }[]
  readonly requestCount: number
}

function simulate(nodes: readonly Node[], needed: number, decider: Decider = correct): Run {
  const candidates = nodes.map((_, index) => ({ svName: `sv-${index}`, urls: ['https://sv'] }))
  const state = decider.createVoteState(candidates, needed)
  const queue: { readonly atMs: number; readonly event: VoteEvent }[] = []
  const said: { node: number; answer: string }[] = []
  const plan = (atMs: number, event: VoteEvent) => queue.push({ atMs, event })
  plan(0, { kind: 'began' })
  plan(DEADLINE_MS, { kind: 'deadline' })
  for (;;) {
    queue.sort((a, b) => a.atMs - b.atMs)
    const next = queue.shift()
    if (next === undefined) throw new Error('nothing is planned, and the read is not over')
    const { atMs, event } = next
    if (event.kind === 'reply' && event.reply.kind === 'answered')
      said.push({ node: state.voters.indexOf(event.voter), answer: event.reply.answer })
    for (const effect of decider.step(state, event, atMs)) {
      if (effect.kind === 'done') {
        const requestCount = state.voters.reduce((sum, voter) => sum + voter.requestCount, 0)
        return { verdict: effect.verdict, endedMs: atMs, said, requestCount }
      }
      if (effect.kind === 'wake') plan(effect.atMs, { kind: 'woke' })
      else plan(...replyOf(effect.voter, atMs))
    }
  }

  function replyOf(voter: Voter, atMs: number): [number, VoteEvent] {
    const count = voter.requestCount - 1
    const reply = (nodes[state.voters.indexOf(voter)] as Node)({ atMs, count })
    if ('answer' in reply && reply.afterMs < REQUEST_MS_MAX) {
      const { answer, afterMs } = reply
      const answered = { kind: 'answered', answer, value: null } as const
      return [atMs + afterMs, { kind: 'reply', voter, reply: answered }]
    }
    const failed = {
      kind: 'failed',
      failure: { reason: 'reason' in reply ? reply.reason : 'hung', isReachable: true },
      retryAfterMs: ('retryAfterMs' in reply ? reply.retryAfterMs : null) ?? null,
    } as const
    const afterMs = Math.min(reply.afterMs, REQUEST_MS_MAX)
    return [atMs + afterMs, { kind: 'reply', voter, reply: failed }]
  }
}

const HUNG = 60_000
const latency = fc.integer({ min: 1, max: 400 })

/** A liar: answers the newest or a past state, an invention (shared or new), or nothing. */
const liar: fc.Arbitrary<Node> = fc
  .array(
    fc.record({
      afterMs: fc.oneof(fc.constant(1), latency, fc.constant(HUNG)),
      what: fc.constantFrom('lie', 'null', 'version 0', 'version 1', 'other', 'fail'),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((moves) => ({ count }) => {
    const { afterMs, what } = moves[count % moves.length] as (typeof moves)[number]
    if (what === 'fail') return { afterMs, reason: 'HTTP status 503' }
    return { afterMs, answer: what === 'other' ? `other ${count}` : what }
  })

/** An honest node: answers its last state; requests fail, of a reliable one only the first. */
const honest = (isReliable: boolean, changesAtMs: number): fc.Arbitrary<Node> =>
  fc
    .record({
      lagMs: fc.integer({ min: 0, max: 3_000 }),
      afterMs: latency,
      fails: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
      isDead: fc.boolean(),
    })
    .map(({ lagMs, afterMs, fails, isDead }) => ({ atMs, count }) => {
      const doesFail = isReliable
        ? count < 3 && fails[count]
        : isDead || fails[count % fails.length]
      if (doesFail) return { afterMs, reason: 'HTTP status 500' }
      return { afterMs, answer: atMs + afterMs - lagMs < changesAtMs ? 'version 0' : 'version 1' }
    })

type World = {
  readonly nodes: readonly Node[]
  readonly isLiar: readonly boolean[]
  readonly isStrong: boolean
}

const world = (isReliable: boolean): fc.Arbitrary<World> =>
  fc
    .record({
      nodeCount: fc.constantFrom(1, 2, 3, 4, 5, 7, 10, 13),
      changesAtMs: fc.integer({ min: -3_000, max: 3_000 }),
      isStrong: fc.boolean(),
    })
    .chain(({ nodeCount, changesAtMs, isStrong }) => {
      const liarCount = maxFaulty(nodeCount)
      return fc.record({
        nodes: fc
          .tuple(
            fc.array(liar, { minLength: liarCount, maxLength: liarCount }),
            fc.array(honest(isReliable, changesAtMs), {
              minLength: nodeCount - liarCount,
              maxLength: nodeCount - liarCount,
            }),
          )
          .map(([liars, others]) => [...liars, ...others]),
        isLiar: fc.constant(Array.from({ length: nodeCount }, (_, index) => index < liarCount)),
        isStrong: fc.constant(isStrong),
      })
    })

/** The property that a read violates, as a sentence; undefined: none. */
function broken({ nodes, isLiar, isStrong }: World, decider: Decider): string | undefined {
  const nodeCount = nodes.length
  const threshold = isStrong ? '2f+1' : 'f+1'
  const { verdict, endedMs, said } = simulate(
    nodes,
    decider.votesNeeded(threshold, nodeCount),
    decider,
  )
  const majority = nodeCount < 4 ? Math.floor(nodeCount / 2) + 1 : 0
  const needed = Math.max((isStrong ? 2 : 1) * maxFaulty(nodeCount) + 1, majority)
  const sayers = (answer: string) =>
    new Set(said.filter((one) => one.answer === answer).map(({ node }) => node))
  if (endedMs > DEADLINE_MS) return 'a read ends in time'
  if (verdict.kind === 'agreed') {
    const agreed = [...sayers(verdict.answer)]
    if (!agreed.some((node) => isLiar[node] === false)) return 'one honest one said what is agreed'
    if (agreed.length < needed) return 'enough different ones said what is agreed'
    return undefined
  }
  const answeredCount = new Set(said.map(({ node }) => node)).size
  if ((verdict.kind === 'insufficient') !== answeredCount < needed)
    return 'a read is insufficient where too few answered'
  return undefined
}

/** All honest nodes answer and catch up in time: then liars cannot prevent an agreement. */
function brokenLiveness(read: World, decider: Decider): string | undefined {
  const run = simulate(read.nodes, decider.votesNeeded('f+1', read.nodes.length), decider)
  return run.verdict.kind === 'agreed' ? undefined : `honest ones agree: ${run.verdict.kind}`
}

const SEED = 17
const RUNS = 1_500
const holds = (why: string | undefined): void => {
  if (why !== undefined) throw new Error(why)
}
const check = (decider: Decider, numRuns: number) => [
  fc.check(
    fc.property(world(false), (read) => holds(broken(read, decider))),
    { seed: SEED, numRuns },
  ),
  fc.check(
    fc.property(world(true), (read) => holds(brokenLiveness(read, decider))),
    { seed: SEED, numRuns },
  ),
]

describe('with any actions of f liars', () => {
  it('an agreement has an honest answer and enough votes, and honest nodes reach one', () => {
    for (const result of check(correct, RUNS))
      expect(result.failed, fc.defaultReportMessage(result) ?? '').toBe(false)
  })

  it.each(MUTANTS)('a property fails if $mistake', async (mutation) => {
    const results = check(await importMutant<Decider>(DECIDER, mutation), RUNS)
    expect(results.some(({ failed }) => failed)).toBe(true)
  })
})

describe('a read', () => {
  const says =
    (answer: string, afterMs = 10): Node =>
    () => ({ afterMs, answer })
  const fails =
    (retryAfterMs?: number): Node =>
    () => ({ afterMs: 10, reason: 'HTTP status 503', ...(retryAfterMs && { retryAfterMs }) })
  const hangs: Node = () => ({ afterMs: HUNG, reason: 'hung' })

  it('ends with the needed answer while others hang or contradict', () => {
    const run = simulate([says('lie', 1), hangs, says('true', 20), says('true', 30)], 2)
    expect(run).toMatchObject({ verdict: { kind: 'agreed', answer: 'true' }, endedMs: 30 })
  })

  it('asks each scan once if all agree, even if some are slow', () => {
    const run = simulate([says('true', 1), says('true', 2_000), hangs, hangs], 2)
    expect(run).toMatchObject({ endedMs: 2_000, requestCount: 4 })
  })

  it('is insufficient soon if no scan can be reached', () => {
    const run = simulate([fails(), fails(), fails(), says('true')], 2)
    expect(run.verdict.kind).toBe('insufficient')
    expect(run.endedMs).toBeLessThan(2_000)
  })

  it('does not ask a node again before its `retry-after`', () => {
    const times: number[] = []
    const busy: Node = ({ atMs }) => {
      times.push(atMs)
      return atMs < 3_000
        ? { afterMs: 10, reason: 'HTTP status 429', retryAfterMs: 3_000 }
        : { afterMs: 10, answer: 'true' }
    }
    expect(simulate([busy, busy, says('true')], 3).verdict.kind).toBe('agreed')
    expect(times).toEqual([0, 0, 3_010, 3_010])
  })

  it('is lagging if some changed their answers, disputed if none did', () => {
    const moving: Node = ({ atMs }) => ({ afterMs: 10, answer: atMs < 5_000 ? 'old' : 'new' })
    expect(simulate([moving, says('new'), says('lie'), hangs], 3).verdict.kind).toBe('lagging')
    expect(simulate([says('old'), says('new'), says('lie'), hangs], 2).verdict.kind).toBe(
      'disputed',
    )
  })

  it('decides at once when lagging scans have caught up', () => {
    const catching =
      (atMs: number): Node =>
      (asked) => ({
        afterMs: 10,
        answer: asked.atMs < atMs ? 'old' : 'new',
      })
    const run = simulate([says('lie'), catching(0), catching(2_000), says('older')], 2)
    expect(run.verdict).toEqual({ kind: 'agreed', answer: 'new' })
    expect(run.endedMs).toBeLessThan(3_100)
  })

  it('refuses thresholds that f liars could reach', () => {
    expect(correct.votesNeeded('f+1', 13)).toBe(5)
    expect(correct.votesNeeded('2f+1', 13)).toBe(9)
    expect(correct.votesNeeded(13, 13)).toBe(13)
    for (const [count, votes] of [
      [1, 1],
      [2, 2],
      [3, 2],
      [4, 2],
    ] as const) {
      expect(correct.votesNeeded('f+1', count)).toBe(votes)
      expect(() => correct.votesNeeded(votes - 1, count)).toThrow(`from ${votes} to ${count}`)
    }
    for (const threshold of [4, 14, 5.5, Number.NaN])
      expect(() => correct.votesNeeded(threshold, 13)).toThrow('from 5 to 13')
  })
})
