/** Whom a read asks, and when: the state machine alone, with answers one by one. */
import { describe, expect, it } from 'vitest'
import { createByHand } from './testing/by-hand.ts'

/** The outcome of a call of one read; undefined if it has not ended, or was refused. */
function outcomeOf({ outcomes }: ReturnType<typeof createByHand>, id: number) {
  const ended = outcomes.get(id)
  return ended === undefined || ended instanceof Error ? undefined : ended[0]
}

/** One free place at three nodes, none at the last. Heads are known. */
function almostFull() {
  const run = createByHand([7, 7, 6, 6])
  run.ask({ threshold: 4 })
  run.answer([...run.open])
  run.answer([...run.open])
  for (let turn = 0; turn < 4; turn++) {
    run.pass(60)
    run.ask({ threshold: 4 })
  }
  const last = [0, 1, 2].map((index) => run.flightsTo(index).at(-1))
  run.answer(last.flatMap((flight) => flight ?? []))
  expect([0, 1, 2, 3].map((index) => run.flightsTo(index).length)).toEqual([3, 3, 3, 4])
  return run
}

describe('reads of one moment', () => {
  it('whose room others of that moment took are asked when there is room again', () => {
    const run = almostFull()
    const ids = run.ask({ threshold: 3 }, { threshold: 2 })
    for (let turn = 0; turn < 8; turn++) {
      run.answer([...run.open])
      run.pass(25)
    }
    const kinds = ids.map((id) => outcomeOf(run, id)?.kind)
    expect(kinds).toEqual(['verified', 'verified'])
  })
})

it('a read that needs three nodes is asked although others keep all of them busy', () => {
  const run = createByHand([5, 5, 5, 5])
  run.ask({})
  run.answer([...run.open])
  run.answer([...run.open])
  let strong = 0
  let endedAtTurn = 0
  for (let turn = 0; turn < 500 && endedAtTurn === 0; turn++) {
    run.ask({}, {}, {})
    if (turn === 200) {
      expect(
        [0, 1, 2, 3].filter((index) => run.flightsTo(index).length > 3).length,
      ).toBeGreaterThan(2)
      ;[strong = 0] = run.ask({ threshold: 3 })
    }
    run.pass(5)
    // One answer every 15 ms, while two are wanted every 20 ms.
    const [oldest] = run.open
    if (oldest !== undefined && turn % 3 === 0) run.answer([oldest])
    if (run.outcomes.has(strong)) endedAtTurn = turn
  }
  const outcome = outcomeOf(run, strong)
  expect(outcome?.kind).toMatch(/^verified/)
  expect(new Set(outcome?.agreed).size).toBe(3)
  // It waits for room, and then for the answers before its own.
  expect((endedAtTurn - 200) * 5).toBeLessThan(500)
})

describe('pages that wait for room', () => {
  const pages = (count: number, threshold = 2) =>
    Array.from({ length: count }, (_, index) => ({ page: `p${index}`, threshold }))

  it('are refused with OVERLOADED after a quarter of their time, and the others are answered', () => {
    const run = createByHand([5, 5, 5, 5])
    run.ask({})
    run.answer([...run.open])
    run.answer([...run.open])
    const ids = run.ask(...pages(40))
    // Nodes that answer one page after the other.
    for (let turn = 0; turn < 8; turn++) {
      run.pass(80)
      run.answer([0, 1, 2, 3].flatMap((index) => run.flightsTo(index).slice(0, 1)))
    }
    const codes = ids.map((id) => (run.outcomes.get(id) as { code?: string } | undefined)?.code)
    expect(codes.filter((code) => code === 'OVERLOADED').length).toBeGreaterThan(5)
    for (const id of ids) if (!run.outcomes.has(id)) expect(run.open.size).toBeGreaterThan(0)
    while (run.open.size > 0) run.answer([...run.open])
    const kinds = ids.map((id) => outcomeOf(run, id)?.kind.replace('-absent', '') ?? 'refused')
    expect([...new Set(kinds)].sort()).toEqual(['refused', 'verified'])
  })

  it('cost a step each about as much as one, however many there are', () => {
    let drawCount = 0
    const run = createByHand([5, 5, 5, 5])
    run.ask({})
    run.answer([...run.open])
    run.answer([...run.open])
    run.ask(...pages(2000))
    const { lanes } = run.state.nodes[0] as (typeof run.state.nodes)[number]
    const { flights } = lanes.bulk
    // Counts how often a node is looked at for room.
    Object.defineProperty(lanes.bulk, 'flights', {
      get() {
        drawCount++
        return flights
      },
    })
    run.pass(25)
    expect(drawCount).toBeLessThan(200)
  })
})

it('a read that needs all nodes does not make the others of its moment ask all', () => {
  const run = createByHand([5, 5, 5, 5])
  run.ask({})
  run.answer([...run.open])
  run.answer([...run.open])
  const [weak = 0, all = 0] = run.ask({}, { threshold: 4 })
  expect(run.open.size).toBe(4)
  while (run.open.size > 0) run.answer([...run.open])
  const askedOf = (id: number) => outcomeOf(run, id)?.asked
  expect(askedOf(weak)).toHaveLength(2)
  expect(askedOf(all)).toHaveLength(4)
})

it('a request whose connection was lost is not sent again to an address without authentication', () => {
  for (const isLate of [false, true]) {
    const run = createByHand([5, 5, 5, 5])
    run.ask({})
    run.answer([...run.open])
    run.answer([...run.open])
    run.ask({ threshold: 4 })
    const flights = run.flightsTo(1)
    expect(flights).toHaveLength(1)
    run.move(1, 'http://sv-1.example.com')
    if (isLate) run.pass(1990)
    else run.answer(flights, 'lost')
    expect(run.flightsTo(1).filter((flight) => !flights.includes(flight))).toEqual([])
  }
})

it('a node that usually takes 200 ms is not taken for silent after 150', () => {
  const run = createByHand([5, 5, 5, 5])
  for (let turn = 0; turn < 12; turn++) {
    run.ask({})
    run.pass(200)
    while (run.open.size > 0) run.answer([...run.open])
  }
  const [id = 0] = run.ask({})
  run.pass(199)
  run.answer([...run.open])
  expect(outcomeOf(run, id)?.asked).toHaveLength(2)
})

it('a request that may be lost is sent again while its read can still be answered', () => {
  const run = createByHand([5, 5, 5, 5])
  run.ask({})
  run.answer([...run.open])
  run.answer([...run.open])
  const [id = 0] = run.ask({ threshold: 4 })
  run.answer(run.flightsTo(0, 1, 2))
  run.pass(1600)
  const [, second] = run.flightsTo(3)
  run.answer(second === undefined ? [] : [second])
  expect(outcomeOf(run, id)?.kind).toMatch(/^verified/)
})

it('one node that says that the offset is pruned does not forbid a lower one', () => {
  // The third node of a strong read lags: it can vote at 4.
  const run = createByHand([9, 9, 9, 4])
  const [id = 0] = run.ask({ threshold: 3 })
  for (let turn = 0; turn < 20 && !run.outcomes.has(id); turn++) {
    for (const flight of [...run.open]) {
      const isLie = flight.source.node.index === 0 && flight.spec.kind !== 'probe'
      run.answer([flight], isLie ? 'pruned' : 'true')
    }
    run.pass(25)
  }
  expect(outcomeOf(run, id)).toMatchObject({ offset: 4, agreed: ['sv-1', 'sv-2', 'sv-3'] })
  expect(run.state.nodes[0]?.counters.lastError).toBe('pruned a recent offset')
})

it('where one vote decides, a wrong node that is quick does not make the others come last', () => {
  const run = createByHand([5, 5, 5])
  const [id = 0] = run.ask({ threshold: 1 })
  run.answer([...run.open])
  run.state.samples.lookup.atMs = Number.NEGATIVE_INFINITY
  run.answer([...run.open])
  const [sampled = 0] = run.ask({ threshold: 1 })
  run.answer(run.flightsTo(0), 'lie')
  run.answer(run.flightsTo(1, 2))
  for (const read of [id, sampled]) expect(outcomeOf(run, read)?.kind).toMatch(/^trusted/)
  const { nodes } = run.state
  expect(nodes.map(({ mistrustedUntilMs }) => mistrustedUntilMs)).toEqual([
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ])
  // Each side may be wrong.
  for (const { counters } of nodes) expect(counters.dissents).toBeGreaterThan(0)
})

it('however few reads there are, one a minute is asked of all nodes', () => {
  const run = createByHand([5, 5, 5, 5])
  const counts: number[] = []
  for (let turn = 0; turn < 40; turn++) {
    const [id = 0] = run.ask({})
    while (run.open.size > 0) run.answer([...run.open])
    counts.push(outcomeOf(run, id)?.asked?.length ?? 0)
    run.pass(3500)
  }
  expect(counts.filter((count) => count === 4)).toHaveLength(2)
  expect(counts.filter((count) => count === 2)).toHaveLength(38)
})

/** After a first read: all heads are known. */
function known(...wanted: Parameters<typeof createByHand>) {
  const run = createByHand(...wanted)
  run.ask({})
  while (run.open.size > 0) run.answer([...run.open])
  return run
}

it('a node is asked last until its retry-after has passed', () => {
  const run = known([5, 5, 5, 5])
  const [first] = run.state.nodes
  Object.assign(first ?? {}, { refusesUntilMs: 10_000 })
  for (const turn of [0, 1, 2]) {
    const [id = 0] = run.ask({})
    while (run.open.size > 0) run.answer([...run.open])
    expect(outcomeOf(run, id)?.asked, String(turn)).not.toContain('sv-0')
    run.pass(300)
  }
})

it('a page is not expected of a failing node that is asked to find out', () => {
  const run = known([5, 5, 5, 5])
  Object.assign(run.state.nodes[0]?.lanes.bulk ?? {}, { failureCount: 2 })
  run.ask({ page: 'a' })
  expect([0, 1, 2, 3].map((index) => run.flightsTo(index).length)).toEqual([1, 1, 1, 0])
  run.answer(run.flightsTo(1), 'missing')
  expect(run.flightsTo(3)).toHaveLength(1)
})

it('more nodes are asked at once if those that agree sent no answer', () => {
  const run = known([5, 5, 5, 5])
  const [id = 0] = run.ask({})
  run.answer(run.flightsTo(0, 1), 'nonsense')
  expect(run.flightsTo(2, 3)).toHaveLength(2)
  run.answer(run.flightsTo(2, 3))
  expect(outcomeOf(run, id)).toMatchObject({ agreed: ['sv-2', 'sv-3'] })
})

it('liars that are quick gain nothing where other nodes have no room', () => {
  let state = 7
  const run = known([5, 5, 5, 5, 5, 5, 5], () => {
    state = (state * 48_271) % 0x7fff_ffff
    return state / 0x7fff_ffff
  })
  for (const { index, lanes } of run.state.nodes) {
    lanes.lookup.latencyMs = index < 2 ? 0.1 : 30
    if (index > 3) lanes.lookup.failureCount = 2
  }
  let bothCount = 0
  for (let turn = 0; turn < 200; turn++) {
    const [id = 0] = run.ask({ threshold: 3 })
    const first = [...run.open].filter(({ spec }) => spec.kind === 'batch')
    if (first.length > 3)
      run.answer(first) // A sample.
    else if ([0, 1].every((index) => first.some(({ source }) => source.node.index === index)))
      bothCount++
    run.answer([...run.open].filter(({ spec }) => spec.kind === 'batch'))
    expect(outcomeOf(run, id)?.kind).toMatch(/^verified/)
    for (const { index, lanes } of run.state.nodes) lanes.lookup.latencyMs = index < 2 ? 0.1 : 30
  }
  // Two of four candidates are both among three that are drawn: half of the times.
  expect(bothCount / 200).toBeLessThan(0.7)
})

it('reads that need a slow node do not delay those that do not', () => {
  const run = known([5, 5, 5, 5])
  for (const { index, lanes } of run.state.nodes) lanes.lookup.latencyMs = index < 3 ? 3 : 500
  for (let turn = 0; turn < 4; turn++) {
    run.pass(25)
    run.ask({ threshold: 4 })
    run.pass(25)
    run.answer(run.flightsTo(0, 1, 2))
  }
  expect(run.flightsTo(3)).toHaveLength(4)
  run.ask({ threshold: 4 })
  run.pass(25)
  expect(run.open.size).toBe(4)
  const [id = 0] = run.ask({})
  // They gather with others.
  run.pass(20)
  run.answer(run.flightsTo(0, 1, 2))
  expect(outcomeOf(run, id)?.kind).toMatch(/^verified/)
})
