import { utf8 } from '@quorumscan/base'
import { createManualClock, untilTrue } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { createStateJudge } from './state-judge.ts'

const ENTRY = utf8('an entry')
const LARGE = new Uint8Array(256 * 1024)
const HEAD = 7
const REFUSED = { offset: HEAD, refusal: 'CONTRACT_NOT_FOUND: spent', growth: 0 }
const ACCEPTED = adding(500)
const LATE = { refusal: null, growth: null, isLate: true }
const HANGS = 'hangs'
const FAILS = 'fails'

type Answers = readonly (object | typeof HANGS | typeof FAILS)[]

/** Nodes that give these answers in turn, and then the last one again. */
function setUp(needed: number, ...answersOfNodes: readonly Answers[]) {
  const clock = createManualClock(0)
  const asked: string[] = []
  const countByUrl = new Map<string, number>()
  const judge = createStateJudge({
    nodes: answersOfNodes.map((_, index) => ({ name: `sv-${index}`, url: `http://${index}` })),
    needed,
    endpointsOf: (peer) => [{ url: peer.url, isPublicOnly: false }],
    client: {
      async request(url, { path, body }) {
        expect([path, body === ENTRY || body === LARGE]).toEqual(['/v0/entry-judgements', true])
        asked.push(url)
        const answers = answersOfNodes[Number(new URL(url).hostname.split('.').at(-1))] ?? []
        const count = countByUrl.get(url) ?? 0
        countByUrl.set(url, count + 1)
        const answer = answers[Math.min(count, answers.length - 1)] ?? FAILS
        if (answer === HANGS) return new Promise(() => {})
        if (answer === FAILS) throw new Error('down')
        return { status: 200, body: utf8(JSON.stringify(answer)), header: () => null }
      },
    },
    head: () => ({ offset: HEAD }),
    clock,
  })
  return { judge, clock, asked }
}

it('refuses what enough nodes refuse, with the reason', async () => {
  const { judge } = setUp(2, [REFUSED], [ACCEPTED], [REFUSED], [ACCEPTED])
  expect((await judge.before(ENTRY, 'a client')).refusal).toEqual({
    code: 'INVALID_ARGUMENT',
    message: 'every replica would refuse this entry now: CONTRACT_NOT_FOUND: spent',
  })
})

it.each<readonly [string, number, readonly Answers[]]>([
  ['too few nodes refuse', 2, [[REFUSED], [ACCEPTED], [ACCEPTED], [ACCEPTED]]],
  ['the others fail', 2, [[REFUSED], [FAILS], [FAILS], [FAILS]]],
  ['its own node accepts it', 1, [[ACCEPTED]]],
  ['a node answers something else', 1, [[{ ...REFUSED, refusal: 5 }]]],
  ['a node states no offset', 1, [[{ ...REFUSED, offset: undefined }]]],
  ['a node states no bytes', 1, [[{ ...REFUSED, growth: undefined }]]],
  ['there is no node', 1, []],
])('admits the entry if %s', async (_, needed, answers) => {
  expect((await setUp(needed, ...answers).judge.before(ENTRY, 'a client')).refusal).toBeNull()
})

it('admits the entry after 50 ms without a judgement', async () => {
  const { judge, clock } = setUp(2, [REFUSED], [HANGS], [HANGS], [HANGS])
  let judged: unknown = 'waiting'
  const judging = judge.before(ENTRY, 'a client').then((judgement) => {
    judged = judgement
  })
  await clock.advance(49)
  expect(judged).toBe('waiting')
  await clock.advance(1)
  await judging
  expect(judged).toEqual(LATE)
})

it('asks again until the node has applied what the log had when the entry came', async () => {
  const late = { offset: HEAD - 1, refusal: 'CONTRACT_NOT_FOUND: not yet created', growth: 0 }
  const { judge, clock, asked } = setUp(1, [late, late, REFUSED])
  const judging = judge.before(ENTRY, 'a client')
  for (let ms = 0; ms < 45; ms += 5) await clock.advance(5)
  expect(await judging).toMatchObject({ refusal: { message: expect.stringContaining('spent') } })
  expect(asked).toHaveLength(3)
})

it('admits the entry if the node does not reach that offset in time', async () => {
  const late = { offset: HEAD - 1, refusal: 'CONTRACT_NOT_FOUND: not yet created', growth: 0 }
  const { judge, clock } = setUp(1, [late])
  const judging = judge.before(ENTRY, 'a client')
  for (let ms = 0; ms < 50; ms += 5) await clock.advance(5)
  expect(await judging).toEqual(LATE)
})

it.each<readonly [string, number | null, number, readonly Answers[]]>([
  ['what its own node says', 500, 1, [[ACCEPTED]]],
  ['what all say', 500, 2, [[ACCEPTED], [ACCEPTED], [ACCEPTED], [ACCEPTED]]],
  ['no more than the others say', 500, 2, [[adding(9000)], [ACCEPTED], [ACCEPTED], [ACCEPTED]]],
  ['no less than the others say', 500, 2, [[adding(-9000)], [ACCEPTED], [ACCEPTED], [ACCEPTED]]],
  ['nothing that one node alone says', null, 2, [[ACCEPTED], [FAILS], [FAILS], [FAILS]]],
])('takes for the bytes that the entry adds %s', async (_, growth, needed, answers) => {
  expect((await setUp(needed, ...answers).judge.before(ENTRY, 'a client')).growth).toBe(growth)
})

/** The answer of a node for which the entry adds so many bytes. */
function adding(growth: number) {
  return { offset: HEAD, refusal: null, growth }
}

const APPLIED = { ...REFUSED, is_applied: true }

it('knows that the state has refused an entry if enough nodes have applied it', async () => {
  expect(
    await setUp(2, [APPLIED], [APPLIED], [FAILS], [FAILS]).judge.wasRefused(ENTRY, 'a client'),
  ).toBe(true)
})

it.each<readonly [string, number, readonly Answers[]]>([
  ['had an effect', 1, [[{ ...ACCEPTED, is_applied: true }]]],
  ['would be refused now, as it is in the log', 1, [[{ ...REFUSED, is_applied: false }]]],
  ['is judged by an older node', 1, [[REFUSED]]],
  ['one node of four refuses', 2, [[APPLIED], [ACCEPTED], [ACCEPTED], [ACCEPTED]]],
])('an entry that %s was not refused', async (_, needed, answers) => {
  expect(await setUp(needed, ...answers).judge.wasRefused(ENTRY, 'a client')).toBe(false)
})

it('asks again, less and less often, until the node has applied the entry, for a minute', async () => {
  const late = { ...ACCEPTED, offset: HEAD - 1, is_applied: false }
  const first = setUp(1, [late, FAILS, late, late, late, APPLIED])
  let isOver = false
  const judging = first.judge.wasRefused(ENTRY, 'a client').finally(() => {
    isOver = true
  })
  const secondsOf = async ({ clock }: typeof first) => {
    let ms = 0
    for (; !isOver && ms < 100_000; ms += 500) await clock.advance(500)
    return ms / 1000
  }
  // 0.5 + 1 + 2 + 4 + 8 s.
  expect(Math.floor(await secondsOf(first))).toBeLessThanOrEqual(16)
  expect([await judging, first.asked.length]).toEqual([true, 6])
  isOver = false
  const second = setUp(1, [FAILS])
  const hopeless = second.judge.wasRefused(ENTRY, 'a client').finally(() => {
    isOver = true
  })
  expect(Math.floor(await secondsOf(second))).toBe(60)
  expect(await hopeless).toBe(false)
})

it('says whether a judgement was late, as there is none where nobody is asked', async () => {
  expect((await setUp(1, [ACCEPTED]).judge.before(ENTRY, 'a client')).isLate).toBe(false)
  expect((await setUp(1, [REFUSED]).judge.before(ENTRY, 'a client')).isLate).toBe(false)
  expect((await setUp(1).judge.before(ENTRY, 'a client')).isLate).toBe(false)
  expect((await setUp(1, [FAILS]).judge.before(ENTRY, 'a client')).isLate).toBe(true)
})

it('asks no more nodes than are needed while these refuse the entry, each in its turn', async () => {
  const { judge, clock, asked } = setUp(2, [REFUSED], [REFUSED], [REFUSED], [REFUSED])
  for (let count = 0; count < 4; count++)
    expect((await judge.before(ENTRY, 'a client')).refusal).not.toBeNull()
  await clock.advance(20)
  expect(asked.length).toBe(8)
  expect(new Set(asked).size).toBe(4)
})

it('asks the others of a node that is silent for 15 ms', async () => {
  const { judge, clock, asked } = setUp(2, [HANGS], [REFUSED], [REFUSED], [HANGS])
  const judging = judge.before(ENTRY, 'a client')
  await clock.advance(14)
  expect(asked.length).toBe(2)
  await clock.advance(1)
  expect(asked.length).toBe(4)
  expect((await judging).refusal).not.toBeNull()
})

it('judges the entries of a burst a few at a time, each for its whole time, and takes turns', async () => {
  const { judge, clock, asked } = setUp(1, [HANGS])
  const judged: string[] = []
  const judging: Promise<unknown>[] = []
  const submit = (owner: string) =>
    judging.push(judge.before(ENTRY, owner).then(() => judged.push(owner)))
  for (let count = 0; count < 40; count++) submit('greedy')
  for (let count = 0; count < 10; count++) submit(`modest ${count}`)
  expect(asked.length).toBe(8)
  await clock.advance(49)
  expect(judged).toEqual([])
  // Modest senders wait for two turns at most: those in progress, and one of each other sender.
  for (let turn = 0; turn < 3; turn++) await clock.advance(50)
  expect(judged.filter((owner) => owner !== 'greedy')).toHaveLength(10)
  for (let turn = 0; turn < 5; turn++) await clock.advance(50)
  await Promise.all(judging)
  expect(judged).toHaveLength(50)
  expect(asked.length).toBe(50)
})

it('refuses what a greedy sender has waiting beyond its share', async () => {
  const { judge, clock } = setUp(1, [HANGS])
  const codes: unknown[] = []
  const judging = Array.from({ length: 200 }, () =>
    judge.before(ENTRY, 'greedy').catch(({ code }) => codes.push(code)),
  )
  // 80 are a quarter of what they leave.
  await untilTrue('the refusals', () => codes.length === 120)
  expect(new Set(codes)).toEqual(new Set(['RATE_LIMITED']))
  const modest = judge.before(ENTRY, 'modest').then(() => codes.push('modest'))
  for (let turn = 0; turn < 3; turn++) await clock.advance(50)
  await modest
  expect(codes.at(-1)).toBe('modest')
  for (let turn = 0; turn < 10; turn++) await clock.advance(50)
  await Promise.all(judging)
})

it('a greedy sender pays for entries in the log that nodes have not judged, beyond its share', async () => {
  const { judge, clock } = setUp(1, [HANGS])
  const judged: boolean[] = []
  const judging = Array.from({ length: 1000 }, async () => {
    judged.push(await judge.wasRefused(ENTRY, 'greedy'))
  })
  // 400 are a quarter of what they leave.
  await untilTrue('the refusals', () => judged.length === 600)
  expect(new Set(judged)).toEqual(new Set([true]))
  let modest: boolean | null = null
  judging.push(
    judge.wasRefused(ENTRY, 'modest').then((isRefused) => {
      modest = isRefused
    }),
  )
  await clock.advance(59_999)
  expect([judged.length, modest]).toEqual([600, null])
  await clock.advance(1)
  await Promise.all(judging)
  expect([judged.length, modest]).toEqual([1000, false])
})

it('so it does for the bytes of these entries', async () => {
  const { judge, clock } = setUp(1, [HANGS])
  const judged: boolean[] = []
  const judging = Array.from({ length: 30 }, async () => {
    judged.push(await judge.wasRefused(LARGE, 'greedy'))
  })
  // 6.25 MiB are a quarter of what they leave.
  await untilTrue('the refusals', () => judged.length >= 5)
  expect(judged).toEqual(Array(5).fill(true))
  await clock.advance(60_000)
  await Promise.all(judging)
})

it('ends the judgements of entries in the log when it is closed, also while no node answers', async () => {
  for (const answer of [HANGS, FAILS] as const) {
    const { judge, asked } = setUp(1, [answer])
    // The clock stands still: nothing else ends them.
    const judging = judge.wasRefused(ENTRY, 'a client')
    await untilTrue('the question', () => asked.length === 1)
    await judge[Symbol.asyncDispose]()
    expect(await judging).toBe(false)
    expect(await judge.wasRefused(ENTRY, 'a client')).toBe(false)
    expect(asked.length).toBe(1)
  }
})
