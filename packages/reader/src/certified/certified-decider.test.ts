import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createVirtual, START_MICROS } from '../driver/testing/virtual.ts'
import { step } from './certified-decider.ts'
import {
  type CallInput,
  type CallOutcome,
  type CertifiedReply,
  type ConflictingCertificates,
  createReaderState,
  type ReaderEvent,
  type RequestInFlight,
} from './certified-state.ts'

const FAULTY_MAX = 1
const NODES = ['sv-1', 'sv-2', 'sv-3', 'sv-4']
/** The time and the newest offset at the start: the ledger grows by one entry each ms. */
const START = 100_000
const WAIT_MS = 10_000
const urlOf = (name: string) => `https://${name}.test`

/** A reader with scripted nodes, and a clock that the test advances. */
function createWorld(seeds: readonly string[] = NODES.map(urlOf)) {
  const state = createReaderState(seeds, FAULTY_MAX)
  /** The time of the last request to each node. */
  const sentAtMs = new Map<string | null, number>()
  type Ended = Omit<CallOutcome, 'read'> & { readonly read: number; readonly endedAtMs: number }
  const ended: Ended[] = []
  const forks: ConflictingCertificates[] = []
  /** By how much the clock of the device is ahead. */
  const device = { aheadMs: 0 }
  const driven = createVirtual<
    RequestInFlight,
    CertifiedReply,
    CallInput,
    CallOutcome,
    ConflictingCertificates,
    ReaderEvent
  >({
    context: state,
    step: (event) => step(state, event),
    startMs: START,
    aheadMs: () => device.aheadMs,
    onEffect(effect) {
      if (effect.kind === 'ask') sentAtMs.set(effect.flight.source.url, driven.nowMs())
      else if (effect.kind === 'done')
        ended.push({ ...effect.outcome, read: effect.read, endedAtMs: driven.nowMs() })
      else if (effect.kind === 'note') forks.push(effect.fact)
    },
  })
  const { open, report } = driven
  const pointOf = (offset: number, signerCount: number, root: number) => ({
    offset,
    recordTime: START_MICROS + offset * 1000,
    historyHash: 'ab',
    root: Uint8Array.of(root),
    signers: NODES.slice(0, signerCount),
    otherCount: 0,
  })
  const world = {
    state,
    sentAtMs,
    ended,
    forks,
    device,
    ...driven,
    ask(wanted: Partial<CallInput> & { readonly waitMs?: number } = {}) {
      const all = { threshold: 2, minOffset: 0, maxAgeMs: 60_000 } as const
      const lookups = { lookups: [{ name: 'a' }], key: null }
      return driven.begin({ ...all, ...lookups, ...wanted }, WAIT_MS)
    },
    prove(
      flight: RequestInFlight,
      offset: number,
      { signerCount = 2, root = 0 }: { readonly signerCount?: number; readonly root?: number } = {},
    ) {
      const point = pointOf(offset, signerCount, root)
      driven.answer(flight, { kind: 'proven', point, answer: offset })
    },
    end(flight: RequestInFlight, { kind }: { readonly kind: 'failed' | 'lied' }) {
      if (kind === 'failed') driven.fail(flight)
      else driven.answer(flight, { kind, reason: 'for the test' })
    },
    /** Flights to a node, of reads or polls. */
    flightsTo: (name: string, isPoll = false) =>
      [...open].filter(
        ({ source, read }) => source.url === urlOf(name) && (read === null) === isPoll,
      ),
    /** Nodes that are asked for reads now. */
    asked: () => [...open].flatMap(({ source, read }) => (read === null ? [] : source.url)),
    only() {
      const flights = [...open].filter(({ read }) => read !== null)
      expect(flights).toHaveLength(1)
      return flights[0] as RequestInFlight
    },
  }
  for (const name of NODES) report({ kind: 'located', name, url: urlOf(name) })
  report({ kind: 'learning', isOver: true })
  return world
}

describe('a reader of certified answers', () => {
  it('blames no node when callers leave before it answers', () => {
    const world = createWorld()
    world.ask()
    const [asked] = world.asked()
    for (let read = 1; read <= 20; read++) {
      world.pass(50)
      world.leave(read)
      expect(world.asked()).toEqual([])
      world.ask()
      expect(world.asked()).toEqual([asked])
    }
    for (const { counters, failureCount } of world.state.sources)
      expect({ ...counters, failureCount }).toMatchObject({ errors: 0, failureCount: 0 })
    world.prove(world.only(), START + 1000)
    expect(world.ended).toMatchObject([{ ending: { kind: 'answered' } }])
  })

  it('asks one node, and believes an answer that enough members signed recently', () => {
    const world = createWorld()
    world.ask()
    world.prove(world.only(), START)
    expect(world.ended).toMatchObject([{ ending: { kind: 'answered', answer: START } }])
    expect(world.state.floor).toBe(START)
  })

  it('asks a second node when the first takes three times its usual latency, and still waits for the first', () => {
    const world = createWorld()
    world.ask()
    world.prove(world.only(), START)
    world.ask()
    world.pass(49)
    expect(world.asked()).toHaveLength(1)
    world.pass(1)
    expect(world.asked()).toHaveLength(2)
  })

  it.each([null, 140, 2000])(
    'asks a second node after 150 ms where the first usually takes %s ms',
    (latencyMs) => {
      const world = createWorld()
      for (const source of world.state.sources) source.latencyMs = latencyMs
      world.ask()
      world.pass(149)
      expect(world.asked()).toHaveLength(1)
      world.pass(1)
      expect(world.asked()).toHaveLength(2)
    },
  )

  it('asks a second node after 150 ms also where the first may wait for an offset', () => {
    const world = createWorld()
    world.ask({ minOffset: START })
    world.pass(149)
    expect(world.asked()).toHaveLength(1)
    world.pass(1)
    expect(world.asked()).toHaveLength(2)
  })

  it('does not avoid a node whose first answer took long because of connecting', () => {
    const world = createWorld([urlOf('sv-1')])
    const answerAfter = (ms: number, flight: RequestInFlight) => {
      world.pass(ms)
      world.prove(flight, START)
    }
    world.ask()
    answerAfter(40, world.only())
    const [poll] = [...world.open]
    world.ask()
    answerAfter(2, world.only())
    answerAfter(20, poll as RequestInFlight)
    world.ask()
    expect(world.asked()).toEqual([urlOf('sv-1')])
  })

  it.each(['failed', 'lied'] as const)('asks another node at once when one %s', (kind) => {
    const world = createWorld()
    world.ask()
    const first = world.only()
    const [url] = world.asked()
    world.end(first, { kind })
    expect(world.asked()).not.toContain(url)
    world.prove(world.only(), START)
    world.ask()
    expect(world.asked()).not.toContain(url)
  })

  it('asks past caches once for an answer behind its floor, and blames no node', () => {
    const world = createWorld()
    world.state.floor = START
    world.ask()
    const [url] = world.asked()
    world.prove(world.only(), START - 2)
    expect(world.asked()).toEqual([url])
    expect(world.only().minOffset).toBe(START)
    world.prove(world.only(), START - 1)
    expect(world.asked()).not.toContain(url)
    expect(world.ended).toEqual([])
  })

  it('believes an old answer only after f + 1 nodes were consulted and none has a newer one', () => {
    const world = createWorld()
    world.ask()
    world.prove(world.only(), START)
    world.pass(13_000)
    world.state.polledAtMs = 0
    world.ask()
    const [polled] = NODES.flatMap((name) => world.flightsTo(name, true)).slice(-1)
    world.prove(world.only(), START)
    expect(world.ended).toHaveLength(1)
    world.prove(polled as RequestInFlight, START + 13_000)
    expect(world.ended).toHaveLength(1)
    expect(world.only().minOffset).toBe(START + 13_000)
    world.prove(world.only(), START + 13_000)
    expect(world.ended).toMatchObject([
      {},
      { ending: { kind: 'answered', answer: START + 13_000 } },
    ])
  })

  it('asks f others for their certificates with the first read, and every quarter of maxAge', () => {
    const world = createWorld()
    const polls = () => NODES.flatMap((name) => world.flightsTo(name, true))
    const read = () => {
      world.ask({ maxAgeMs: 8000 })
      world.prove(world.only(), world.nowMs())
    }
    read()
    expect(polls()).toHaveLength(FAULTY_MAX)
    world.pass(1999)
    read()
    expect(polls()).toHaveLength(FAULTY_MAX)
    world.pass(1)
    read()
    expect(polls()).toHaveLength(2 * FAULTY_MAX)
  })

  it('believes no answer after two certificates contradicted each other', () => {
    const world = createWorld()
    world.ask()
    world.prove(world.only(), START)
    world.ask()
    world.prove(world.only(), START, { root: 1 })
    expect(world.forks).toHaveLength(1)
    world.ask()
    expect(world.ended.map(({ ending }) => ending.kind)).toEqual([
      'answered',
      'disputed',
      'disputed',
    ])
  })

  it('does not count a seed as a node', () => {
    const world = createWorld(['https://alias.test', ...NODES.map(urlOf)])
    world.ask()
    const alias = [...world.open].find(({ source }) => source.name === null)
    const [poll] = NODES.flatMap((name) => world.flightsTo(name, true))
    world.prove(alias as RequestInFlight, START - 13_000)
    world.end(poll as RequestInFlight, { kind: 'failed' })
    // The polled node and another one are asked for the answer.
    const [first, second] = [...world.open]
    world.prove(first as RequestInFlight, START - 13_000)
    expect(world.ended).toEqual([])
    world.prove(second as RequestInFlight, START - 13_000)
    expect(world.ended).toMatchObject([{ ending: { kind: 'answered' } }])
  })

  it('joins a lookup issued during a request with those that its answer triggers', () => {
    const world = createWorld()
    const ask = (name: string, key: string | null = '') => world.ask({ lookups: [{ name }], key })
    const requests = () => [...world.state.reads].map(({ query }) => query.request.parameters)
    ask('a')
    const first = world.only()
    expect(requests()).toEqual([{ name: 'a' }])
    ask('b')
    world.prove(first, START)
    ask('c')
    ask('d', 'other')
    ask('e', null)
    expect(world.asked()).toEqual([])
    world.pass(1)
    expect(requests()).toEqual([
      { lookups: [{ name: 'b' }, { name: 'c' }] },
      { name: 'd' },
      { name: 'e' },
    ])
    const [both] = [...world.open].filter(({ read }) => read !== null)
    world.prove(both as RequestInFlight, START)
    expect(world.ended.map(({ read, first }) => [read, first])).toEqual([
      [1, 0],
      [2, 0],
      [3, 1],
    ])
  })

  it('reads for the remaining callers, and stops when all have left', () => {
    const world = createWorld()
    world.ask({ key: '' })
    const [second, third] = [world.ask({ key: '' }), world.ask({ key: '' })]
    world.pass(1)
    expect(world.asked()).toHaveLength(2)
    world.leave(second)
    expect(world.asked()).toHaveLength(2)
    world.leave(third)
    expect(world.asked()).toHaveLength(1)
  })

  it('has at most eight requests for lookups in flight', () => {
    const world = createWorld()
    for (let count = 0; count < 20; count++) world.ask()
    world.pass(1)
    expect(world.state.reads.length).toBe(8)
    world.prove([...world.open].find(({ read }) => read !== null) as RequestInFlight, START)
    world.pass(1)
    expect(world.state.reads.length).toBe(8)
  })

  it('gives the reason for a missing answer', () => {
    const world = createWorld()
    type How = 'failed' | 'pruned' | 'limit' | 'not-reached'
    const endAll = (how: How, wanted: Partial<CallInput> = {}) => {
      world.ask(wanted)
      while (world.open.size > 0)
        for (const flight of [...world.open]) {
          if (how === 'failed') world.fail(flight)
          else world.answer(flight, { kind: how, reason: '', retryAfterMs: 700 })
        }
      return world.ended.at(-1)?.ending
    }
    expect(endAll('failed')).toMatchObject({ kind: 'insufficient', retryAfterMs: null })
    expect(endAll('pruned')).toMatchObject({ kind: 'lagging', reason: 'pruned' })
    expect(endAll('limit')).toMatchObject({ kind: 'insufficient', retryAfterMs: 700 })
    world.pass(700)
    // First with the floor of the call, then with the floor of the reader.
    expect(endAll('not-reached', { minOffset: 7 })).toMatchObject({
      kind: 'lagging',
      reason: 'floor',
    })
    expect(endAll('not-reached')).toMatchObject({ kind: 'lagging', reason: 'not-reached' })
  })
})

describe('a reader whose device has a wrong clock', () => {
  const YEAR_MS = 365 * 24 * 3_600_000
  const skewOf = (world: ReturnType<typeof createWorld>) =>
    world.ended.map(({ clockSkewMs }) => clockSkewMs)

  it.each([-11_000, -300_000, -10 * YEAR_MS])(
    'believes no answer of one node while its clock is %i ms ahead, and takes the newest of f + 1',
    (aheadMs) => {
      const world = createWorld()
      world.device.aheadMs = aheadMs
      world.ask()
      const replaying = world.only()
      // By the clock of the device this answer is not old, or even ahead.
      world.prove(replaying, START + Math.max(aheadMs + 10_500, -65_000))
      expect(world.ended).toEqual([])
      // A poll of another node, which was sent with the read, shows a newer state.
      const [poll] = [...world.open]
      world.prove(poll as RequestInFlight, START)
      expect(world.ended).toEqual([])
      expect(world.only().source).not.toBe(replaying.source)
      world.prove(world.only(), START)
      expect(world.ended).toMatchObject([{ ending: { kind: 'answered', answer: START } }])
      expect(skewOf(world)).toEqual([-aheadMs])
    },
  )

  it.each([0, -9000])('believes an answer while its clock is %i ms ahead', (aheadMs) => {
    const world = createWorld()
    world.device.aheadMs = aheadMs
    world.ask()
    world.prove(world.only(), START)
    expect(world.ended).toMatchObject([{ ending: { kind: 'answered', answer: START } }])
    expect(skewOf(world)).toEqual([null])
  })

  it('asks no further node once the clock is corrected', () => {
    const world = createWorld()
    world.device.aheadMs = -300_000
    world.ask()
    world.prove(world.only(), START)
    world.device.aheadMs = 0
    world.ask()
    const flights = [...world.open].filter(({ read }) => read === world.state.reads.at(-1))
    world.prove(flights[0] as RequestInFlight, START)
    expect(world.ended.length).toBeGreaterThanOrEqual(1)
    expect(skewOf(world)).toEqual(world.ended.map(() => null))
  })

  it('notices when the clock is set back, before any further answer', () => {
    const world = createWorld()
    world.ask()
    world.prove(world.only(), START)
    world.pass(65_000)
    world.device.aheadMs = -60_000
    world.ask()
    // All nodes replay: by the clock of the device the answer is 5 s old.
    while (world.ended.length < 2)
      for (const flight of [...world.open].filter(({ read }) => read !== null))
        world.prove(flight, START)
    expect(world.ended).toMatchObject([
      {},
      { ending: { kind: 'lagging', reason: 'stale' }, clockSkewMs: 59_935 },
    ])
  })

  it('counts answers as stale while its clock is ahead, which proves nothing', () => {
    const world = createWorld()
    world.device.aheadMs = 300_000
    world.ask()
    while (world.ended.length === 0)
      for (const flight of [...world.open].filter(({ read }) => read !== null))
        world.prove(flight, START)
    expect(world.ended).toMatchObject([
      { ending: { kind: 'lagging', reason: 'stale', ageMs: 300_000 }, clockSkewMs: null },
    ])
  })

  it('is not convinced by a time that f members signed', () => {
    const world = createWorld()
    world.ask()
    world.prove(world.only(), START + 3_600_000, { signerCount: FAULTY_MAX })
    expect(world.ended).toEqual([])
    world.prove(world.only(), START)
    expect(world.ended).toMatchObject([{ ending: { kind: 'answered', answer: START } }])
    expect(skewOf(world)).toEqual([null])
  })

  it('forgets no difference of its two clocks for ever', () => {
    const world = createWorld()
    world.ask()
    world.prove(world.only(), START)
    // The monotonic clock runs 500 ppm too fast for a day: the clock of the device seems to be 43 s behind.
    const dayMs = 24 * 3_600_000
    world.pass(dayMs)
    world.device.aheadMs = -dayMs * 0.0005
    world.ask()
    world.prove(world.only(), START + dayMs + world.device.aheadMs)
    expect(world.ended).toMatchObject([{}, { ending: { kind: 'answered' }, clockSkewMs: null }])
  })
})

describe('for all actions of nodes, in any order', () => {
  const action = fc.oneof(
    fc.record({
      kind: fc.constant('ask' as const),
      minOffset: fc.constantFrom(0, 0, START - 60_000, START),
      maxAgeMs: fc.constantFrom(1000, 20_000, 60_000),
      threshold: fc.constantFrom(2, 3),
    }),
    fc.record({
      kind: fc.constant('answer' as const),
      flight: fc.nat(9),
      ageMs: fc.constantFrom(0, 500, 11_000, 13_000, 50_000, 70_000),
      signerCount: fc.constantFrom(1, 2, 3, 4),
    }),
    fc.record({ kind: fc.constantFrom('failed' as const, 'lied' as const), flight: fc.nat(9) }),
    fc.record({
      kind: fc.constant('refused' as const),
      flight: fc.nat(9),
      why: fc.constantFrom('not-reached', 'pruned', 'limit', 'unable'),
      retryAfterMs: fc.constantFrom(null, 1000),
    }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 60, 2500, 14_000) }),
    fc.record({
      kind: fc.constant('set' as const),
      aheadMs: fc.constantFrom(0, 0, -9000, -11_000, -65_000, -300_000, 30_000),
    }),
  )

  it('accepts no answer that lags, is stale, lacks signers, or is old and unconfirmed', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const world = createWorld()
        const asked = new Map<
          number,
          { readonly floor: number; readonly ms: number; readonly wanted: Partial<CallInput> }
        >()
        let checked = 0
        let proven = { offset: Number.NEGATIVE_INFINITY, atMs: 0 }
        const look = () => {
          const newest = Math.max(...world.state.points.keys())
          if (newest > proven.offset) proven = { offset: newest, atMs: world.nowMs() }
          for (const { read, ending, endedAtMs } of world.ended.slice(checked)) {
            checked += 1
            const { floor, ms, wanted } = asked.get(read) ?? { floor: 0, ms: 0, wanted: {} }
            asked.delete(read)
            if (ending.kind !== 'answered') continue
            const { point } = ending
            const deviceMs = endedAtMs + world.device.aheadMs
            const provenMs = proven.offset + (endedAtMs - proven.atMs) * 0.999
            const ageMs = Math.max(deviceMs, provenMs) - point.offset
            expect(point.offset).toBeGreaterThanOrEqual(Math.max(floor, wanted.minOffset ?? 0))
            expect(ageMs).toBeLessThanOrEqual(wanted.maxAgeMs ?? 0)
            expect(point.signers.length).toBeGreaterThanOrEqual(wanted.threshold ?? 0)
            if (ageMs <= 12_000 && provenMs <= deviceMs + 10_000) continue
            const consulted = NODES.filter((name) => (world.sentAtMs.get(urlOf(name)) ?? -1) >= ms)
            expect(consulted.length).toBeGreaterThan(FAULTY_MAX)
          }
        }
        const flightOf = (index: number) => [...world.open][index]
        for (const one of actions) {
          if (one.kind === 'ask') {
            asked.set(asked.size + checked + 1, {
              floor: world.state.floor,
              ms: world.nowMs(),
              wanted: one,
            })
            const { kind: _, ...wanted } = one
            world.ask(wanted)
          } else if (one.kind === 'pass') world.pass(one.ms)
          else if (one.kind === 'set') world.device.aheadMs = one.aheadMs
          else {
            const flight = flightOf(one.flight)
            if (flight === undefined) continue
            if (one.kind === 'answer') world.prove(flight, world.nowMs() - one.ageMs, one)
            else if (one.kind === 'refused') {
              const { why, retryAfterMs } = one
              world.answer(flight, { kind: why, reason: '', retryAfterMs })
            } else world.end(flight, one)
          }
          look()
        }
        world.pass(10_000)
        look()
        expect(world.state.reads.length).toBe(0)
        expect([...world.open].every(({ read }) => read === null)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})
