import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import type { HistoryEvent, ReadOutcome, Verdict } from './history.ts'
import { renderReport } from './report.ts'
import type { ChaosFault, Scenario } from './schedule.ts'
import { SUMMARY_SCHEMA, summarize } from './summary.ts'

const scenario: Scenario = {
  seed: '<script>',
  durationMs: 10_000,
  nodes: 4,
  budget: 'f',
  allowsUnexercised: false,
  steps: [],
}

const answered = (dissented: readonly string[] = []): ReadOutcome => ({
  kind: 'answered',
  offset: 7,
  entry: null,
  dissented,
})
const lookup = (startMs: number, outcome: ReadOutcome): HistoryEvent => ({
  kind: 'lookup',
  client: 'reader',
  startMs,
  endMs: startMs + 10,
  subject: { name: 'alice.unverified.ns' },
  read: 'weak',
  outcome,
})
const probe = (endMs: number, node: string, head: number | null): HistoryEvent => ({
  kind: 'probe',
  startMs: endMs - 10,
  endMs,
  node,
  vote: 'agreed',
  signedProblem: null,
  head,
})
const fault = (
  [startMs, healedMs, upMs, endMs]: readonly [number, number, number | null, number],
  what: ChaosFault,
  more: object = {},
): HistoryEvent => ({
  kind: 'fault',
  plannedMs: startMs,
  startMs,
  refused: null,
  seenMs: null,
  healedMs,
  upMs,
  endMs,
  fault: what,
  ...more,
})

const history: HistoryEvent[] = [
  lookup(500, answered()),
  lookup(1200, answered(['sv-2'])),
  // They end later than those that began after them.
  lookup(5700, { kind: 'no-connection', code: 'refused' }),
  lookup(5600, { kind: 'refused', code: 'NOT_ENOUGH_NODES' }),
  lookup(5800, { kind: 'timed-out' }),
  // Another way of reading had an answer meanwhile.
  lookup(5750, answered()),
  lookup(7000, answered()),
  probe(1000, 'sv-1', 7),
  probe(1100, 'sv-3', 7),
  probe(8600, 'sv-4', 1_000_007),
  fault([5000, 6000, 7500, 8000], { kind: 'kill', node: 'sv-10', part: null }, { seenMs: 5500 }),
  fault([1000, 3000, 3000, 3000], { kind: 'lie', node: 'sv-2', lie: 'value' }),
  fault([8500, 9000, null, 9000], { kind: 'lie', node: 'sv-4', lie: 'head' }),
  fault([9000, 9500, 9500, 9500], { kind: 'lie', node: 'sv-4', lie: 'flood' }),
  fault(
    [9600, 9600, 9600, 9600],
    { kind: 'machine-clock', node: 'sv-1', run: 'back' },
    { refused: 'libfaketime is not installed' },
  ),
  { kind: 'evidence', node: 'sv-2', pairs: 3 },
]
const verdict: Verdict = {
  verdict: 'inconclusive',
  sentence: 'all <b>true</b>',
  rules: [
    { rule: 'answers are true', samples: 3, findings: [] },
    { rule: 'names are unique', samples: 0, findings: [] },
  ],
}
const summary = summarize(history, {
  run: { id: 'ab12', startedAt: '2026-01-02T03:04:05.000000Z', version: '9.8.7', machine: 'a PC' },
  ordering: 'redis',
  faultyMax: 1,
  verdict,
  scenario,
})

it('distinguishes the reasons for lookups without an answer', () => {
  expect(summary.lookups).toMatchObject({
    attempted: 7,
    answered: 4,
    refused: { NOT_ENOUGH_NODES: 1 },
    noConnection: { refused: 1 },
    timedOut: 1,
  })
  const { stepMs, points } = summary.availability
  expect(stepMs).toBe(1000)
  expect(points.map((point) => point.answered)).toEqual([1, 1, 0, 0, 0, 1, 0, 1])
  expect(points[5]).toMatchObject({ refused: { NOT_ENOUGH_NODES: 1 }, timedOut: 1 })
  expect(summary.outages).toHaveLength(1)
  expect(summary.outages[0]).toMatchObject({
    startMs: 5600,
    endMs: 5810,
    answered: 1,
    inForce: ['sv-10 killed'],
  })
})

it('reports what detected a fault and how soon, and which faults no read can show', () => {
  expect(
    summary.faults.map(({ node, detections, isVisible }) => [
      node,
      detections.map(({ by, afterMs }) => `${by} ${afterMs}`).join(),
      isVisible,
    ]),
  ).toEqual([
    ['sv-2', 'votes 210', true],
    ['sv-10', 'status 500', true],
    ['sv-4', 'prober 100', true],
    ['sv-4', '', false],
    ['sv-1', '', true],
  ])
  expect(summary.faults.map(({ recoveryMs, catchUpMs }) => [recoveryMs, catchUpMs])).toEqual([
    [0, 0],
    [1500, 500],
    [null, null],
    [0, 0],
    [0, 0],
  ])
})

it('the summary conforms to its schema', () => {
  const isValid = new Ajv2020({ strict: true }).compile(SUMMARY_SCHEMA)
  const written: unknown = JSON.parse(JSON.stringify(summary))
  expect([isValid(written), isValid.errors]).toEqual([true, null])
  expect(isValid({ ...summary, wrongAnswers: -1 })).toBe(false)
  expect(isValid({ ...summary, lookups: {} })).toBe(false)
})

it('the report is one page without other files, with all values escaped', () => {
  const html = renderReport(summary)
  for (const shown of [
    'wrong answers served: 0',
    'ab12',
    '2026-01-02T03:04:05',
    '9.8.7',
    'a PC',
    'not exercised',
    'no read can show it',
    'not injected: libfaketime is not installed',
    '1 refused NOT_ENOUGH_NODES, 1 no connection refused, 1 timed out',
  ])
    expect(html).toContain(shown)
  // Lanes in numeric order.
  expect(html.indexOf('>sv-2</text>')).toBeLessThan(html.indexOf('>sv-10</text>'))
  expect(html).not.toMatch(/<script|<b>true|(src|href)=/)
})
