import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextTickMs, step } from './policy.ts'
import {
  createReaderState,
  type Effect,
  type ReaderEvent,
  type ReaderState,
  type Wanted,
} from './reader-state.ts'

const FAULTY_MAX = 1
const NODES = ['sv-1', 'sv-2', 'sv-3', 'sv-4']
const START_MICROS = 1_700_000_000_000_000
/** Of the clock, and the newest offset at the beginning: the ledger moves on by one each millisecond. */
const START = 100_000
const urlOf = (name: string) => `https://${name}.test`

type Ended = Effect & { readonly kind: 'ended' }
type Sent = Effect & { readonly kind: 'send' }

/** A reader whose nodes are told what to do, and a clock that is moved. */
function createWorld(seeds: readonly string[] = NODES.map(urlOf)) {
  const state: ReaderState = createReaderState({ faultyMax: FAULTY_MAX, seeds })
  let nowMs = START
  let readCount = 0
  const open = new Map<number, Sent>()
  /** By node: when it was last asked anything. */
  const sentAtMs = new Map<string, number>()
  const ended: (Ended & { readonly endedAtMs: number })[] = []
  const forks: Effect[] = []
  const now = () => ({ ms: nowMs, micros: START_MICROS + nowMs * 1000 })
  const tell = (event: ReaderEvent): readonly Effect[] => {
    const effects = step(state, event, now())
    for (const effect of effects)
      if (effect.kind === 'send') {
        open.set(effect.flight, effect)
        sentAtMs.set(effect.source.url, nowMs)
      } else if (effect.kind === 'cancel') open.delete(effect.flight)
      else if (effect.kind === 'ended') ended.push({ ...effect, endedAtMs: nowMs })
      else forks.push(effect)
    return effects
  }
  const pointOf = (offset: number, signerCount: number, root: number) => ({
    offset,
    recordTime: START_MICROS + offset * 1000,
    historyHash: 'ab',
    root: Uint8Array.of(root),
    signers: NODES.slice(0, signerCount),
  })
  const world = {
    ...{ state, open, sentAtMs, ended, forks, tell, now },
    ask(wanted: Partial<Wanted> = {}) {
      const read = readCount++
      const all = { signerCount: 2, minOffset: 0, maxAgeMs: 60_000, waitMs: 10_000, isWalk: false }
      tell({ kind: 'asked', read, wanted: { ...all, ...wanted } })
      return read
    },
    answer(
      flight: number,
      offset: number,
      { signerCount = 2, root = 0 }: { readonly signerCount?: number; readonly root?: number } = {},
    ) {
      open.delete(flight)
      return tell({
        kind: 'told',
        flight,
        point: pointOf(offset, signerCount, root),
        answer: offset,
      })
    },
    end(flight: number, event: { readonly kind: 'failed' | 'lied' }) {
      open.delete(flight)
      return tell({ ...event, flight, reason: 'for the test' })
    },
    pass(ms: number) {
      const untilMs = nowMs + ms
      for (;;) {
        const atMs = nextTickMs(state, now())
        if (atMs > untilMs) break
        nowMs = atMs
        tell({ kind: 'tick' })
      }
      nowMs = untilMs
    },
    /** Flights to a node, of reads or polls. */
    flightsTo: (name: string, isPoll = false) =>
      [...open.values()].filter(
        ({ source, read }) => source.url === urlOf(name) && (read === null) === isPoll,
      ),
    /** Nodes that are asked for reads now. */
    asked: () =>
      [...open.values()].flatMap(({ source, read }) => (read === null ? [] : source.url)),
    only() {
      const flights = [...open.values()].filter(({ read }) => read !== null)
      expect(flights).toHaveLength(1)
      return (flights[0] as Sent).flight
    },
  }
  for (const name of NODES) tell({ kind: 'located', name, url: urlOf(name) })
  tell({ kind: 'learning', isOver: true })
  return world
}

describe('a reader of certified answers', () => {
  it('holds nothing against nodes where callers leave before they answer', () => {
    const world = createWorld()
    world.ask()
    const [asked] = world.asked()
    for (let read = 0; read < 20; read++) {
      world.pass(50)
      world.tell({ kind: 'left', read })
      expect(world.asked()).toEqual([])
      world.ask()
      expect(world.asked()).toEqual([asked])
    }
    for (const { counters, failureCount } of world.state.sources)
      expect({ ...counters, failureCount }).toMatchObject({ errors: 0, failureCount: 0 })
    world.answer(world.only(), START + 1000)
    expect(world.ended).toMatchObject([{ ending: { kind: 'answered' } }])
  })

  it('asks one node, and believes what enough signed a moment ago', () => {
    const world = createWorld()
    world.ask()
    world.answer(world.only(), START)
    expect(world.ended).toMatchObject([{ ending: { kind: 'answered', answer: START } }])
    expect(world.state.floor).toBe(START)
  })

  it('asks a second one when the first takes three times its usual time, and the first one stays asked', () => {
    const world = createWorld()
    world.ask()
    world.answer(world.only(), START)
    world.ask()
    world.pass(49)
    expect(world.asked()).toHaveLength(1)
    world.pass(1)
    expect(world.asked()).toHaveLength(2)
  })

  it('does not leave a node because its first answer, which had to connect, took long', () => {
    const world = createWorld([urlOf('sv-1')])
    const answerAfter = (ms: number, flight: number) => {
      world.pass(ms)
      world.answer(flight, START)
    }
    world.ask()
    answerAfter(40, world.only())
    const [poll] = [...world.open.values()]
    world.ask()
    answerAfter(2, world.only())
    answerAfter(20, (poll as Sent).flight)
    world.ask()
    expect(world.asked()).toEqual([urlOf('sv-1')])
  })

  it.each(['failed', 'lied'] as const)('asks another at once when one %s', (kind) => {
    const world = createWorld()
    world.ask()
    const first = world.only()
    const [url] = world.asked()
    world.end(first, { kind })
    expect(world.asked()).not.toContain(url)
    world.answer(world.only(), START)
    world.ask()
    expect(world.asked()).not.toContain(url)
  })

  it('asks past caches what is behind its floor, once, and holds it against nobody', () => {
    const world = createWorld()
    world.tell({ kind: 'remembered', offset: START })
    world.ask()
    const [url] = world.asked()
    world.answer(world.only(), START - 2)
    expect(world.asked()).toEqual([url])
    expect(world.open.get(world.only())).toMatchObject({ minOffset: START })
    world.answer(world.only(), START - 1)
    expect(world.asked()).not.toContain(url)
    expect(world.ended).toEqual([])
  })

  it('believes an old answer only after f + 1 nodes were heard, and not when one of them has a newer one', () => {
    const world = createWorld()
    world.ask()
    world.answer(world.only(), START)
    world.pass(13_000)
    world.state.polledAtMs = 0
    world.ask()
    const [polled] = NODES.flatMap((name) => world.flightsTo(name, true)).slice(-1)
    world.answer(world.only(), START)
    expect(world.ended).toHaveLength(1)
    world.answer(polled?.flight ?? -1, START + 13_000)
    expect(world.ended).toHaveLength(1)
    expect(world.open.get(world.only())).toMatchObject({ minOffset: START + 13_000 })
    world.answer(world.only(), START + 13_000)
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
      world.answer(world.only(), world.now().ms)
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

  it('believes nothing any more once two certificates contradict each other', () => {
    const world = createWorld()
    world.ask()
    world.answer(world.only(), START)
    world.ask()
    world.answer(world.only(), START, { root: 1 })
    expect(world.forks).toHaveLength(1)
    world.ask()
    expect(world.ended.map(({ ending }) => ending.kind)).toEqual([
      'answered',
      'disputed',
      'disputed',
    ])
  })

  it('takes a seed for no node of its own', () => {
    const world = createWorld(['https://alias.test', ...NODES.map(urlOf)])
    world.ask()
    const alias = [...world.open.values()].find(({ source }) => source.name === null)
    const [poll] = NODES.flatMap((name) => world.flightsTo(name, true))
    world.answer(alias?.flight ?? -1, START - 13_000)
    world.end(poll?.flight ?? -1, { kind: 'failed' })
    // The one that was polled is asked for the answer, too, and another, which makes two.
    const [first, second] = [...world.open.keys()]
    world.answer(first ?? -1, START - 13_000)
    expect(world.ended).toEqual([])
    world.answer(second ?? -1, START - 13_000)
    expect(world.ended).toMatchObject([{ ending: { kind: 'answered' } }])
  })

  it('says why there is no answer', () => {
    const world = createWorld()
    const endAll = (event: (flight: number) => ReaderEvent) => {
      world.ask()
      for (
        let flights = [...world.open.keys()];
        flights.length > 0;
        flights = [...world.open.keys()]
      )
        for (const flight of flights) {
          world.open.delete(flight)
          world.tell(event(flight))
        }
      return world.ended.at(-1)?.ending
    }
    const refused = { kind: 'refused', reason: '', retryAfterMs: 700 } as const
    expect(endAll((flight) => ({ kind: 'failed', flight, reason: '' }))).toMatchObject({
      kind: 'insufficient',
      retryAfterMs: null,
    })
    expect(endAll((flight) => ({ ...refused, flight, why: 'gone' }))).toMatchObject({
      kind: 'lagging',
      reason: 'pruned',
    })
    expect(endAll((flight) => ({ ...refused, flight, why: 'limit' }))).toMatchObject({
      kind: 'insufficient',
      retryAfterMs: 700,
    })
  })
})

describe('whatever nodes do, and in whichever order', () => {
  const action = fc.oneof(
    fc.record({
      kind: fc.constant('ask' as const),
      minOffset: fc.constantFrom(0, 0, START - 60_000, START),
      maxAgeMs: fc.constantFrom(1000, 20_000, 60_000),
      signerCount: fc.constantFrom(2, 3),
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
      why: fc.constantFrom('behind', 'gone', 'limit', 'unable'),
      retryAfterMs: fc.constantFrom(null, 1000),
    }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 60, 2500, 14_000) }),
  )

  it('nothing is believed that is behind, stale, signed by too few, or old and unconfirmed; all reads end', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const world = createWorld()
        const asked = new Map<
          number,
          { readonly floor: number; readonly ms: number; readonly wanted: Partial<Wanted> }
        >()
        let checked = 0
        const look = () => {
          for (const { read, ending, endedAtMs } of world.ended.slice(checked)) {
            checked += 1
            const { floor, ms, wanted } = asked.get(read) ?? { floor: 0, ms: 0, wanted: {} }
            asked.delete(read)
            if (ending.kind !== 'answered') continue
            const { point } = ending
            const ageMs = endedAtMs - point.offset
            expect(point.offset).toBeGreaterThanOrEqual(Math.max(floor, wanted.minOffset ?? 0))
            expect(ageMs).toBeLessThanOrEqual(wanted.maxAgeMs ?? 0)
            expect(point.signers.length).toBeGreaterThanOrEqual(wanted.signerCount ?? 0)
            if (ageMs <= 12_000) continue
            const heard = NODES.filter((name) => (world.sentAtMs.get(urlOf(name)) ?? -1) >= ms)
            expect(heard.length).toBeGreaterThan(FAULTY_MAX)
          }
        }
        const flightOf = (index: number) => [...world.open.keys()][index]
        for (const one of actions) {
          if (one.kind === 'ask') {
            asked.set(asked.size + checked, {
              floor: world.state.floor,
              ms: world.now().ms,
              wanted: one,
            })
            const { kind: _, ...wanted } = one
            world.ask(wanted)
          } else if (one.kind === 'pass') world.pass(one.ms)
          else {
            const flight = flightOf(one.flight)
            if (flight === undefined) continue
            if (one.kind === 'answer') world.answer(flight, world.now().ms - one.ageMs, one)
            else if (one.kind === 'refused') {
              world.open.delete(flight)
              world.tell({ ...one, flight, reason: '' })
            } else world.end(flight, one)
          }
          look()
        }
        world.pass(10_000)
        look()
        expect(world.state.reads.size).toBe(0)
        expect([...world.state.flights.values()].every(({ read }) => read === null)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})
